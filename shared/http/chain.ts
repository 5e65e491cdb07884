import middy from '@middy/core'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Route } from '../api/route.ts'
import type { WriteAccess } from '../observability/access.ts'
import type { WriteLog } from '../observability/log.ts'
import type { ApiContext } from './call.ts'
import { type CheckOptions, check } from './checks.ts'
import { recordRequest } from './record-request.ts'
import { type ReplyOptions, reply } from './reply.ts'

/** How long before the function's time limit the chain aborts, so that it can still return a 504 itself. */
export const TIMEOUT_MARGIN_MS = 500

export type ChainOptions = CheckOptions &
  ReplyOptions & {
    readonly log: WriteLog
    readonly writeAccess: WriteAccess
    /** Called at the beginning of every invocation. */
    readonly onInvoked?: () => void
  }

/**
 * The middlewares of an endpoint. Their `before` functions run in this order, their `after` functions in reverse: a request is
 * checked before the endpoint runs, and its response is made and logged afterwards, even if a check or the endpoint throws.
 */
export const endpointChain = (route: Route, options: ChainOptions) =>
  middy<APIGatewayProxyEvent, unknown, Error, ApiContext>({ timeoutEarlyInMillis: TIMEOUT_MARGIN_MS }).use([
    recordRequest(route, options),
    reply(route, options),
    check(route, options),
  ])
