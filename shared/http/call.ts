import type middy from '@middy/core'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import type { ErrorKey } from '../api/error-catalogue.ts'
import { SECURITY_HEADERS } from '../api/security-headers.ts'
import type { Credential } from '../domain/credential.ts'
import type { RateVerdict } from '../domain/rate-limit.ts'

/** A request on its way through the chain. */
export type ApiCall = {
  readonly requestId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  credential?: Credential
  /** The key of a request that was not authenticated, if it has the form of one. */
  rejectedKey?: string
  /** Whether the rate limit allows the request; null if counting failed or took too long. */
  rateVerdict?: Promise<RateVerdict | null>
  path: Record<string, string>
  query: Record<string, unknown>
  body: Record<string, unknown>
  /** The body as it was received. */
  bodyText: string
  idempotencyKey?: string | undefined
  /** Throws if the request has an `if-match` without the etag of this body, which is the body of GET of the record. */
  checkIfMatch: (current: () => unknown) => void
  /** Ids of the records that the endpoint returned. For the access trail. */
  responseIds: readonly string[]
  /** Whether the request found the record to be as it was to become. For the access trail. */
  isUnchanged?: boolean
  /** The id of the created record, if the body of the response does not have it. For the `location` header. */
  createdId?: string | undefined
  /** Headers of the response, whether it is a success or an error. */
  readonly headers: Record<string, string>
  /** Writes that run alongside the request's own work. Its response waits a moment for them; none can fail it. */
  readonly backgroundWrites: Promise<unknown>[]
  /** The error of the response and, for an unexpected one, its cause. For the log line. */
  failure?: { key: ErrorKey; cause?: unknown }
}

/** The call of a request that has not been checked. */
export function beginCall({ requestContext }: APIGatewayProxyEvent, now: number): ApiCall {
  // The header `x-amzn-requestid` has another id of the request, but a client can send anything in it.
  const requestId = requestContext.extendedRequestId as string
  return {
    requestId,
    startedAt: now,
    path: {},
    query: {},
    body: {},
    bodyText: '',
    checkIfMatch: () => {},
    responseIds: [],
    headers: { 'x-request-id': requestId, ...SECURITY_HEADERS },
    backgroundWrites: [],
  }
}

export type ApiContext = Context & { call: ApiCall }
/** `response` is what the endpoint returned, until reply.ts turns it into an HTTP response. */
export type ApiRequest = middy.Request<APIGatewayProxyEvent, unknown, Error, ApiContext>
export type Middleware = middy.MiddlewareObj<APIGatewayProxyEvent, unknown, Error, ApiContext>
