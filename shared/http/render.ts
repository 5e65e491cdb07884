import { errorEntry } from '../api/error-catalogue.ts'
import { ApiError, errorBody } from '../api/errors.ts'
import { BASE_PATH, type Route } from '../api/route.ts'
import type { ApiContext, Middleware } from './call.ts'
import { pathPrefix } from './path-prefix.ts'
import { ReplayedResponse } from './replayed-response.ts'

type Success = Pick<Route['response'], 'status' | 'location'>

/** Turns what the endpoint returns into an HTTP response, and every error into its entry of the catalogue. */
export function render({ status, location }: Success): Middleware {
  return {
    after: (request) => {
      const { context, event, response } = request
      const prefix = pathPrefix(event.requestContext.path, BASE_PATH)
      if (response instanceof ReplayedResponse) {
        const headers = {
          'idempotent-replayed': 'true',
          ...locationHeader(prefix, location, response.createdId ?? idIn(JSON.parse(response.body))),
        }
        request.response = buildResponse(context, response.status, response.body, headers)
      } else {
        request.response =
          status === 204
            ? emptyResponse(context)
            : buildResponse(
                context,
                status,
                JSON.stringify(response),
                locationHeader(prefix, location, context.call.createdId ?? idIn(response)),
              )
      }
    },
    onError: (request) => {
      const { key, details, headers, cause } = toCatalogueError(request.error)
      request.context.call.failure = { key, cause }
      const body = JSON.stringify(errorBody(key, details))
      request.response = buildResponse(request.context, errorEntry(key).status, body, headers)
    },
  }
}

/** The path of a created record, at the address that the request was sent to. */
function locationHeader(
  prefix: string,
  location: string | undefined,
  id: string | undefined,
): Record<string, string> {
  if (location === undefined || id === undefined) return {}
  return { location: `${prefix}${BASE_PATH}${location}/${id}` }
}

/** The id of the record in a response. */
const idIn = (body: unknown): string | undefined => (body as { data?: { id?: string } }).data?.id

function buildResponse(
  { call }: ApiContext,
  statusCode: number,
  body: string,
  headers: Record<string, string>,
) {
  return {
    statusCode,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      ...call.headers,
      ...headers,
    },
    body,
  }
}

const emptyResponse = ({ call }: ApiContext) => ({
  statusCode: 204,
  headers: { 'cache-control': 'no-store', ...call.headers },
  body: '',
})

type CatalogueError = Pick<ApiError, 'key' | 'details' | 'headers'> & { cause?: unknown }

function toCatalogueError(error: unknown): CatalogueError {
  if (error instanceof ApiError) return error
  // Thrown by middy shortly before Lambda would abort the function.
  if (error instanceof Error && error.name === 'TimeoutError')
    return { key: 'timeout', details: undefined, headers: {}, cause: error }
  return { key: 'internal', details: undefined, headers: {}, cause: error }
}
