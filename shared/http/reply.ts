import type { APIGatewayProxyResult } from 'aws-lambda'
import type * as z from 'zod'
import { aliasRoutes } from '../api/aliases.ts'
import { errorEntry } from '../api/error-catalogue.ts'
import { ApiError, errorBody } from '../api/errors.ts'
import { BASE_PATH, errorsOf, type Route } from '../api/route.ts'
import { StoredResponse } from '../domain/stored-response.ts'
import { recordIds } from '../observability/access.ts'
import type { ApiCall, ApiRequest, Middleware } from './call.ts'
import { addEntityTag } from './entity-tag.ts'
import { pathPrefix } from './path-prefix.ts'
import { readableBody } from './record-reference.ts'

export type ReplyOptions = {
  readonly checkResponses: boolean
  /** Turns an error of the stores into one of the catalogue. */
  readonly toApiError: (error: unknown) => unknown
}

/** Turns what the endpoint returns into an HTTP response, and every error into its entry of the catalogue. */
export function reply(route: Route, { checkResponses, toApiError }: ReplyOptions): Middleware {
  const aliases = aliasRoutes([route])
  return {
    before: ({ event, context: { call } }) => {
      const { deprecated } = aliases.find(({ path }) => event.resource === `${BASE_PATH}${path}`) ?? route
      if (!deprecated) return
      // RFC 9745 and RFC 8594.
      call.headers.deprecation = `@${Date.parse(deprecated.since) / 1000}`
      call.headers.sunset = new Date(deprecated.sunset).toUTCString()
    },
    after: (request) => {
      const { event, response } = request
      const { call } = request.context
      const rendered =
        response instanceof StoredResponse
          ? replayed(route, request, response)
          : success(route, request, checkResponses ? checkResponse(route, response) : response)
      request.response = addEntityTag(route, event, call, rendered)
    },
    onError: (request) => {
      const thrown = toApiError(request.error)
      const error = checkResponses ? checkDeclared(route, thrown) : thrown
      request.response = errorResponse(request.context.call, error)
    },
  }
}

/** The response to a request that failed, whose log line gets the error. */
export function errorResponse(call: ApiCall, error: unknown): APIGatewayProxyResult {
  const { key, details, headers, cause } = toCatalogueError(error)
  call.failure = { key, cause }
  return rendered(call, errorEntry(key).status, JSON.stringify(errorBody(key, details)), headers)
}

/** The response to a request that was carried out. */
function success(
  route: Route,
  { event, context: { call } }: ApiRequest,
  body: unknown,
): APIGatewayProxyResult {
  const { location, unchangedStatus } = route.response
  const { createdId } = call
  const status = (call.isUnchanged && unchangedStatus) || route.response.status
  call.responseIds = [...recordIds(body), ...(createdId === undefined ? [] : [createdId])]
  if (status === 204)
    return { statusCode: 204, headers: { 'cache-control': 'no-store', ...call.headers }, body: '' }
  const headers = location === undefined ? {} : locationHeader(event, location, createdId ?? idIn(body))
  return rendered(call, status, JSON.stringify(readableBody(route, call, body)), headers)
}

/** The stored response to a repetition, which may be an error. */
function replayed(
  route: Route,
  { event, context: { call } }: ApiRequest,
  { status, body, createdId }: StoredResponse,
): APIGatewayProxyResult {
  const stored: unknown = JSON.parse(body)
  call.isUnchanged = true
  call.responseIds = [...recordIds(stored), ...(createdId === undefined ? [] : [createdId])]
  const isRecord = status === route.response.status && route.response.record !== undefined
  const readable = isRecord ? JSON.stringify(readableBody(route, call, stored)) : body
  const headers = locationHeader(event, route.response.location, createdId ?? idIn(stored))
  return rendered(call, status, readable, { 'idempotent-replayed': 'true', ...headers })
}

const rendered = (call: ApiCall, statusCode: number, body: string, headers: Record<string, string>) => ({
  statusCode,
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...call.headers,
    ...headers,
  },
  body,
})

/** The path of a created record, at the address that the request was sent to. */
function locationHeader(
  { requestContext }: ApiRequest['event'],
  location: string | undefined,
  id: string | undefined,
): Record<string, string> {
  if (location === undefined || id === undefined) return {}
  return { location: `${pathPrefix(requestContext.path, BASE_PATH)}${BASE_PATH}${location}/${id}` }
}

/** The id of the record in a response. */
const idIn = (body: unknown): string | undefined => (body as { data?: { id?: string } } | undefined)?.data?.id

/** A response that violates the endpoint's own contract, which is a defect of the endpoint. */
class ContractViolation extends Error {
  /** `mismatch` names fields and rules, never values, because it is logged. */
  constructor(mismatch: string) {
    super('the response violates the contract of its route')
    this.name = `ContractViolation(${mismatch})`
  }
}

/** Checks a response against the contract of its route. In development only (see CHECK_RESPONSES). */
function checkResponse(route: Route, response: unknown): unknown {
  const { error } = route.response.body.safeParse(response)
  if (error) throw new ContractViolation(mismatches(error))
  return response
}

/** The error itself, or a violation if it is one of the catalogue that the route does not declare. */
const checkDeclared = (route: Route, error: unknown): unknown =>
  error instanceof ApiError && !errorsOf(route).includes(error.key)
    ? new ContractViolation(`undeclared error ${error.key}`)
    : error

const mismatches = (error: z.ZodError): string =>
  error.issues.map(({ path, code }) => `${path.join('.')}: ${code}`).join(', ')

type CatalogueError = Pick<ApiError, 'key' | 'details' | 'headers'> & { cause?: unknown }

function toCatalogueError(error: unknown): CatalogueError {
  if (error instanceof ApiError) return error
  // Thrown by middy shortly before Lambda would abort the function.
  const isTimeout = error instanceof Error && error.name === 'TimeoutError'
  return { key: isTimeout ? 'timeout' : 'internal', details: undefined, headers: {}, cause: error }
}
