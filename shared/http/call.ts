import type middy from '@middy/core'
import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import type { ErrorKey } from '../api/errors.ts'
import type { Credential } from '../domain/credential.ts'

/** What the chain has learnt of one request so far. Each link fills in its own part. */
export type Call = {
  requestId: string
  /** Milliseconds since the epoch. */
  startedAt: number
  credential?: Credential
  path: Record<string, string>
  query: Record<string, unknown>
  body: Record<string, unknown>
  /** The body as it was sent. */
  bodyText: string
  idempotencyKey?: string
  /** Headers that every answer to this call gets, success or error. */
  headers: Record<string, string>
  /** Writes that go on beside the request's own work; all are awaited before it ends, none can fail it. */
  backgroundWrites: Promise<unknown>[]
  /** The error answered, and where an unexpected one came from, for the log line. */
  failure?: { key: ErrorKey; cause?: unknown }
}

export type ApiContext = Context & { call: Call }
/** `response` is what the endpoint returned until render.ts makes an answer of it. */
export type ApiRequest = middy.Request<APIGatewayProxyEvent, unknown, Error, ApiContext>
export type Middleware = middy.MiddlewareObj<APIGatewayProxyEvent, unknown, Error, ApiContext>
