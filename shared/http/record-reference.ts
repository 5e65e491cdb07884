import type { Route } from '../api/route.ts'
import type { ApiCall } from './call.ts'

/** Whether a credential may read the record that a route returns or changes. */
export const mayReadRecord = (
  { readScope }: Pick<Route, 'readScope'>,
  { credential }: Pick<ApiCall, 'credential'>,
): boolean => readScope === undefined || credential?.scopes.includes(readScope) === true

/**
 * What the credential may read of the record in a response to a change: a write scope alone reads nothing, and gets a reference to the
 * record. A stored response has the whole record, and the credential may have had more scopes when it was stored.
 */
export function readableBody(
  route: Pick<Route, 'response' | 'readScope'>,
  call: ApiCall,
  body: unknown,
): unknown {
  const { record } = route.response
  if (!record) return body
  const data = { ...(body as { data: Record<string, unknown> }).data }
  for (const [name, scope] of Object.entries(record.fieldScopes ?? {}))
    if (!call.credential?.scopes.includes(scope)) delete data[name]
  return {
    ...(body as object),
    data: record.reference && !mayReadRecord(route, call) ? record.reference.of(data, call.body) : data,
  }
}
