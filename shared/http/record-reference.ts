import type { Route } from '../api/route.ts'
import type { ApiCall, Middleware } from './call.ts'
import { ReplayedResponse } from './replayed-response.ts'

/** Whether a credential may read the record that a route returns or changes. */
export const mayReadRecord = (
  { readScope }: Pick<Route, 'readScope'>,
  { credential }: Pick<ApiCall, 'credential'>,
): boolean => readScope === undefined || credential?.scopes.includes(readScope) === true

/**
 * Leaves out of a response to a change what the credential may not read: a write scope alone reads nothing, and gets a reference to the
 * record. A stored response is the whole record, and the credential may have had more scopes when it was stored.
 */
export function referToRecord(route: Pick<Route, 'response' | 'readScope'>): Middleware {
  const { status, record } = route.response
  return {
    after: (request) => {
      const { response, context } = request
      const { call } = context
      const readable = (body: { data: object }) => {
        if (record?.reference && !mayReadRecord(route, call))
          return { data: record.reference.of(body.data, call.body) }
        const isReadable = ([name]: [string, unknown]) => {
          const scope = record?.fieldScopes?.[name]
          return scope === undefined || call.credential?.scopes.includes(scope) === true
        }
        return { data: Object.fromEntries(Object.entries(body.data).filter(isReadable)) }
      }
      if (!record) return
      if (!(response instanceof ReplayedResponse)) request.response = readable(response as { data: object })
      // The stored response may be an error.
      else if (response.status === status)
        request.response = new ReplayedResponse({
          ...response,
          body: JSON.stringify(readable(JSON.parse(response.body))),
        })
    },
  }
}
