import type middy from '@middy/core'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import type { ErrorKey } from '../api/error-catalogue.ts'
import type { Credential } from '../domain/credential.ts'
import type { RequestCount } from '../domain/rate-limit.ts'

/** The state of a request in the chain. Each middleware fills in its own part. */
export type ApiCall = {
  requestId: string
  /** Milliseconds since the epoch. */
  startedAt: number
  credential?: Credential
  /** The requests of the credential, when they have been counted; null if that failed or took too long. */
  requestCount?: Promise<RequestCount | null>
  /** The key of a request that was not authenticated, if it has the form of one. */
  rejectedKey?: string
  path: Record<string, string>
  query: Record<string, unknown>
  body: Record<string, unknown>
  /** The body as it was received. */
  bodyText: string
  idempotencyKey?: string
  /** Throws if the request has an `if-match` without the etag of this body, which is the body of GET of the record. */
  checkIfMatch: (current: () => unknown) => void
  /** Ids of the records that the endpoint returned. For the access trail. */
  responseIds: readonly string[]
  /** Whether the request found the record to be as it was to become. For the access trail. */
  isUnchanged?: boolean
  /** The id of the created record, if the body of the response does not have it. For the `location` header. */
  createdId?: string
  /** Headers of the response, whether it is a success or an error. */
  headers: Record<string, string>
  /** Writes that run alongside the request's own work. All are awaited before it ends; none can fail it. */
  backgroundWrites: Promise<unknown>[]
  /** The error of the response and, for an unexpected one, its cause. For the log line. */
  failure?: { key: ErrorKey; cause?: unknown }
}

export type ApiContext = Context & { call: ApiCall }
/** `response` is what the endpoint returned, until render.ts turns it into an HTTP response. */
export type ApiRequest = middy.Request<APIGatewayProxyEvent, unknown, Error, ApiContext>
export type Middleware = middy.MiddlewareObj<APIGatewayProxyEvent, unknown, Error, ApiContext>
