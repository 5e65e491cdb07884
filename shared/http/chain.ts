import middy from '@middy/core'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { deprecationOf, IDEMPOTENCY_HEADERS } from '../api/aliases.ts'
import { ApiError } from '../api/errors.ts'
import { acceptsIdempotencyKey, hasEtag, type Route } from '../api/route.ts'
import type { Credential, CredentialPair } from '../domain/credential.ts'
import type { WriteAccess } from '../observability/access.ts'
import type { WriteLog } from '../observability/log.ts'
import { accessLine, collectResponseIds } from './access-line.ts'
import { authenticate } from './authenticate.ts'
import { authorize, authorizeBody } from './authorize.ts'
import type { ApiContext, Middleware } from './call.ts'
import { checkResponse } from './check-response.ts'
import { entityTag } from './entity-tag.ts'
import { headerOf } from './headers.ts'
import { type CountOutcome, limitRate, recordUse } from './limit-rate.ts'
import { logLine } from './log-line.ts'
import { readBody } from './read-body.ts'
import { readIfMatch } from './read-if-match.ts'
import { referToRecord } from './record-reference.ts'
import { render } from './render.ts'
import { validate } from './validate.ts'

/** How long before the function's time limit the chain aborts, so that it can still return a 504 itself. */
export const TIMEOUT_MARGIN_MS = 500

/** A clinic is paused for as long as its records are copied: minutes. */
const RETRY_AFTER_SECONDS = 60

export type ChainOptions = {
  readonly now: () => number
  readonly log: WriteLog
  /** Called at the beginning of every invocation. */
  readonly onInvoked?: () => void
  readonly writeAccess: WriteAccess
  readonly verifyCredential: (pair: CredentialPair) => Promise<Credential | null>
  /** Called for every request that has an issued key which is not valid. */
  readonly onRejectedKey: (key: string) => void
  readonly countRequest: (credential: Credential) => Promise<CountOutcome>
  readonly requestsPerMinute: number
  /** Called for the first request of a credential in a minute. */
  readonly recordUse: (credential: Credential) => Promise<void>
  readonly checkResponses: boolean
}

/**
 * The middleware of an endpoint, in the order of its checks: authentication (401), rate limit (429), scope (403, also for etags in if-match), a paused
 * clinic (503), query and path (400, 404), if-match (400), body (413, 415, 400, 422) and idempotency key (400, 422).
 */
export function endpointChain(route: Route, options: ChainOptions) {
  return buildChain([
    logLine(route.id, options.now, options.log, options.onInvoked),
    announceRemoval(route),
    accessLine(route.id, options.now, options.writeAccess),
    ...(hasEtag(route) ? [entityTag(route)] : []),
    render(route.response),
    referToRecord(route),
    collectResponseIds(),
    authenticate(options.verifyCredential, options.onRejectedKey),
    limitRate({
      countRequest: options.countRequest,
      requestsPerMinute: options.requestsPerMinute,
      now: options.now,
    }),
    recordUse(options.recordUse),
    authorize(route),
    rejectWhilePaused(),
    validate(route),
    ...(route.method === 'GET' ? [] : [readIfMatch(route)]),
    ...(hasBody(route) ? [readBody(route, (call, body) => authorizeBody(route, call, body))] : []),
    ...(acceptsIdempotencyKey(route) ? [readIdempotencyKey()] : []),
    ...(options.checkResponses ? [checkResponse(route)] : []),
  ])
}

/** Adds `deprecation` (RFC 9745) and `sunset` (RFC 8594) to every response of a deprecated path. */
const announceRemoval = (route: Route): Middleware => ({
  before: ({ event, context: { call } }) => {
    const deprecated = deprecationOf(route, event.resource)
    if (!deprecated) return
    call.headers.deprecation = `@${Date.parse(deprecated.since) / 1000}`
    call.headers.sunset = new Date(deprecated.sunset).toUTCString()
  },
})

const hasBody = (route: Route): route is Route & Required<Pick<Route, 'body'>> => route.body !== undefined

/** Rejects requests that may change something while the operator has paused the clinic. The credential says so. */
const rejectWhilePaused = (): Middleware => ({
  before: ({ event, context: { call } }) => {
    if (event.httpMethod !== 'GET' && call.credential?.clinic.pausedAt !== undefined)
      throw new ApiError('clinic_paused', { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } })
  },
})

/** Reads the Idempotency-Key header, which identifies repetitions of a request. It may be sent under both of its names. */
function readIdempotencyKey(): Middleware {
  return {
    before: ({ event, context: { call } }) => {
      const sent = IDEMPOTENCY_HEADERS.map((name) => headerOf(event, name)).filter((key) => key !== undefined)
      const [key, alias = key] = sent
      if (key === undefined) return
      if (key !== alias) throw new ApiError('conflicting_idempotency_keys')
      if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new ApiError('invalid_idempotency_key')
      call.idempotencyKey = key
    },
  }
}

const buildChain = (middlewares: Middleware[]) =>
  middy<APIGatewayProxyEvent, unknown, Error, ApiContext>({ timeoutEarlyInMillis: TIMEOUT_MARGIN_MS }).use(
    middlewares,
  )
