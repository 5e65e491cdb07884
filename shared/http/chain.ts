import middy from '@middy/core'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { isRepeatable, type Route } from '../api/route.ts'
import type { Credential, CredentialPair } from '../domain/credential.ts'
import type { RequestCount } from '../domain/request-rate.ts'
import type { WriteLog } from '../observability/log.ts'
import { authenticate } from './authenticate.ts'
import { authorize, authorizeBody } from './authorize.ts'
import type { ApiContext, Link } from './call.ts'
import { checkResponse } from './check-response.ts'
import { limitRate } from './limit-rate.ts'
import { logLine } from './log-line.ts'
import { noteUse } from './note-use.ts'
import { readBody } from './read-body.ts'
import { readIdempotencyKey } from './read-idempotency-key.ts'
import { render } from './render.ts'
import { validate } from './validate.ts'

/** Time kept back from the function's limit, to answer 504 ourselves. */
const ANSWER_MS = 500

export type ChainParts = {
  readonly now: () => number
  readonly log: WriteLog
  readonly prove: (pair: CredentialPair) => Promise<Credential | null>
  readonly countRequest: (credential: Credential) => Promise<RequestCount>
  readonly requestsPerMinute: number
  readonly noteUse: (credential: Credential) => Promise<void>
  readonly checkResponses: boolean
}

/** The order of checks of every endpoint: who (401), how often (429), may they (403), is it
 * well-formed (400, 404), then act. */
export function endpointChain(route: Route, parts: ChainParts) {
  return wrapped([
    logLine(route.id, parts.now, parts.log),
    render(route.response),
    authenticate(parts.prove),
    limitRate({ now: parts.now, count: parts.countRequest, requestsPerMinute: parts.requestsPerMinute }),
    noteUse(parts.noteUse),
    authorize(route),
    validate(route),
    ...(route.body ? [readBody(route.body, (call, body) => authorizeBody(route, call, body))] : []),
    ...(isRepeatable(route) ? [readIdempotencyKey()] : []),
    ...(parts.checkResponses ? [checkResponse(route)] : []),
  ])
}

/** The chain of what is no endpoint: unknown paths and methods, answered to anybody. */
export function fallbackChain({ now, log }: Pick<ChainParts, 'now' | 'log'>) {
  return wrapped([logLine('fallback', now, log), render({ status: 404 })])
}

const wrapped = (links: Link[]) =>
  middy<APIGatewayProxyEvent, unknown, Error, ApiContext>({ timeoutEarlyInMillis: ANSWER_MS }).use(links)
