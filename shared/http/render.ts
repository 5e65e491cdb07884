import { ApiError, errorBody, errorEntry } from '../api/errors.ts'
import { UnavailableError } from '../domain/unavailable.ts'
import type { ApiContext, Link } from './call.ts'

/** Turns what the endpoint returns into the answer, and every error into its entry of the catalogue. */
export function render(status: number): Link {
  return {
    after: (request) => {
      request.response = answer(request.context, status, request.response)
    },
    onError: (request) => {
      const { key, details, headers, cause } = catalogued(request.error)
      request.context.call.failure = { key, cause }
      request.response = answer(request.context, errorEntry(key).status, errorBody(key, details), headers)
    },
  }
}

function answer(
  { call }: ApiContext,
  statusCode: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  return {
    statusCode,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      ...call.headers,
      ...headers,
    },
    body: JSON.stringify(body),
  }
}

type Catalogued = Pick<ApiError, 'key' | 'details' | 'headers'> & { cause?: unknown }

function catalogued(error: unknown): Catalogued {
  if (error instanceof ApiError) return error
  if (error instanceof UnavailableError)
    return { key: 'unavailable', details: undefined, headers: { 'retry-after': '1' }, cause: error.cause }
  // middy's own error, thrown a moment before Lambda would end the function.
  if (error instanceof Error && error.name === 'TimeoutError')
    return { key: 'timeout', details: undefined, headers: {}, cause: error }
  return { key: 'internal', details: undefined, headers: {}, cause: error }
}
