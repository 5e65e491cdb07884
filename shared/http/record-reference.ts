import type { Route } from '../api/route.ts'
import type { ApiCall, Middleware } from './call.ts'
import { ReplayedResponse } from './replayed-response.ts'

/** Whether a credential may read the record that a route returns or changes. */
export const mayReadRecord = (
  { readScope }: Pick<Route, 'readScope'>,
  { credential }: Pick<ApiCall, 'credential'>,
): boolean => readScope === undefined || credential?.scopes.includes(readScope) === true

/**
 * Returns a reference to the changed record to a credential that may not read it: a write scope alone reads nothing. What is
 * stored for repetitions is the whole record.
 */
export function referToRecord(route: Pick<Route, 'response' | 'readScope'>): Middleware {
  const { status, record } = route.response
  return {
    after: (request) => {
      const { response, context } = request
      const { call } = context
      if (!record?.reference || mayReadRecord(route, call)) return
      const { reference } = record
      const refer = (body: unknown) => ({
        data: reference.of((body as { data: object }).data, call.body),
      })
      if (!(response instanceof ReplayedResponse)) request.response = refer(response)
      // The stored response may be an error.
      else if (response.status === status)
        request.response = new ReplayedResponse({
          ...response,
          body: JSON.stringify(refer(JSON.parse(response.body))),
        })
    },
  }
}
