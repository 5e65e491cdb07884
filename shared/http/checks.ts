import type { APIGatewayProxyEvent } from 'aws-lambda'
import { IDEMPOTENCY_HEADERS } from '../api/aliases.ts'
import { MAX_IDEMPOTENCY_KEY } from '../api/error-catalogue.ts'
import { ApiError } from '../api/errors.ts'
import { acceptsIdempotencyKey, type Route } from '../api/route.ts'
import type { Credential } from '../domain/credential.ts'
import { type Authentication, authenticate } from './authenticate.ts'
import { authorize, authorizeBody } from './authorize.ts'
import type { Middleware } from './call.ts'
import { headerValues } from './headers.ts'
import { type RateLimitOptions, rateLimiter } from './limit-rate.ts'
import { bodyReader } from './read-body.ts'
import { readIfMatch } from './read-if-match.ts'
import { parsePath, parseQuery } from './validate.ts'

export type CheckOptions = Authentication & RateLimitOptions

/** A clinic is paused for as long as its records are copied: minutes. */
const RETRY_AFTER_SECONDS = 60

/**
 * Checks a request, in the order of docs/api.md, "Order of checks". The first failed check determines the response. Path and method
 * are the gateway's; records and rules the endpoint's.
 */
export function check(route: Route, options: CheckOptions): Middleware {
  const limiter = rateLimiter(options)
  const readBody = bodyReader(route)
  const isRead = route.method === 'GET'
  const isRepeatable = acceptsIdempotencyKey(route)
  return {
    before: async ({ event, context: { call } }) => {
      call.credential = await authenticate(event, call, options)
      await limiter.begin(call, call.credential, event.httpMethod)
      authorize(route, event, call.credential)
      if (!isRead) requireNotPaused(call.credential)
      call.query = parseQuery(route.query, event.multiValueQueryStringParameters ?? {})
      call.path = parsePath(route.params, event.pathParameters ?? {})
      if (!isRead) call.checkIfMatch = readIfMatch(route, event)
      readBody?.(event, call, (body) => authorizeBody(route, call, body))
      if (isRepeatable) call.idempotencyKey = idempotencyKeyOf(event)
    },
    // A read is counted alongside its work. The 429 replaces its response, and any error of it.
    after: ({ context: { call } }) => limiter.applyVerdict(call),
    onError: (request) =>
      limiter.applyVerdict(request.context.call).catch((error: Error) => {
        request.error = error
      }),
  }
}

/** Rejects requests that may change something while the operator has paused the clinic. The credential says so. */
function requireNotPaused({ clinic }: Credential): void {
  if (clinic.pausedAt !== undefined)
    throw new ApiError('clinic_paused', { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } })
}

/** The Idempotency-Key header, which identifies repetitions of a request. It may be sent under both of its names. */
function idempotencyKeyOf(event: APIGatewayProxyEvent): string | undefined {
  const [key, alias = key] = IDEMPOTENCY_HEADERS.flatMap((name) => headerValues(event, name).slice(-1))
  if (key !== alias) throw new ApiError('conflicting_idempotency_keys')
  if (key !== undefined && (!/^[\x21-\x7e]+$/.test(key) || key.length > MAX_IDEMPOTENCY_KEY))
    throw new ApiError('invalid_idempotency_key')
  return key
}
