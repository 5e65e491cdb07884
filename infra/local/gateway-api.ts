import type { Outcome } from './function-pool.ts'
import type { GatewayErrorType, RenderError } from './gateway-errors.ts'
import { type Api, BadTarget, buildEvent, type Received, readTarget, type Target } from './gateway-event.ts'
import { type Answer, readResult } from './gateway-response.ts'
import { type Integration, matchRoute, type Route } from './gateway-routes.ts'
import type { Throttle } from './throttle.ts'

/** One deployed version of the API. */
export type ServedApi = {
  readonly api: Api
  readonly routes: readonly Route[]
  readonly throttle: Throttle
  readonly renderError: RenderError
  readonly invoke: (functionArn: string, event: string, traceId: string) => Promise<Outcome>
}

export type Served = {
  readonly answer: Answer
  readonly resource: string | null
  readonly complaints: readonly string[]
  /** Bytes from which it is compressed, if the caller accepts that. */
  readonly compressFrom?: number | undefined
}

/** Quotas of a REST API, in bytes: the request line with the header values, and the body. */
const MAX_HEAD = 10_240
export const MAX_BODY = 10 * 1024 * 1024
/** Lambda's limit of an event, 6 MB and a little. */
const MAX_EVENT = 6_291_556

/** Answers a request as the deployed REST API would. */
export async function serveRequest(received: Received, served: ServedApi): Promise<Served> {
  const refuse = (
    type: GatewayErrorType,
    resource: string | null = null,
    complaints: readonly string[] = [],
  ) => ({
    answer: served.renderError(type, errorContext(received, served.api, resource)),
    resource,
    complaints,
  })
  const target = targetOf(received)
  if (!target) return refuse('DEFAULT_4XX')
  if (headSize(received) > MAX_HEAD || received.body.length > MAX_BODY) return refuse('REQUEST_TOO_LARGE')

  const match = matchRoute(served.routes, received.method, target.path)
  // Where there is no method, a REST API takes Authorization for an AWS signature.
  if (!match)
    return refuse(
      sentNames(received).has('authorization') ? 'INVALID_SIGNATURE' : 'MISSING_AUTHENTICATION_TOKEN',
    )
  const { resource } = match.route
  if (!served.throttle(match.route, received.method)) return refuse('THROTTLED', resource)

  const event = JSON.stringify(buildEvent(received, target, match, served.api))
  if (Buffer.byteLength(event) > MAX_EVENT) return refuse('REQUEST_TOO_LARGE', resource)
  const outcome = await withinLimit(
    match.integration,
    served.invoke(match.integration.functionArn, event, received.traceId),
  )
  if (!outcome) return refuse('INTEGRATION_TIMEOUT', resource)
  if (!outcome.ok) return refuse('DEFAULT_5XX', resource, outcome.complaints)
  const answer = readResult(outcome.payload)
  if (!answer)
    return refuse('DEFAULT_5XX', resource, [...outcome.complaints, 'Malformed Lambda proxy response'])
  const headers = [...answer.headers, ['X-Amzn-Trace-Id', received.traceId] as const]
  const { compressFrom } = match.route
  return { answer: { ...answer, headers }, resource, complaints: outcome.complaints, compressFrom }
}

function targetOf({ target }: Received): Target | null {
  try {
    return readTarget(target)
  } catch (error) {
    if (error instanceof BadTarget) return null
    throw error
  }
}

const headSize = ({ method, target, protocol, rawHeaders }: Received): number =>
  rawHeaders.reduce(
    (size, text, at) => (at % 2 === 1 ? size + text.length : size),
    `${method} ${target} ${protocol}`.length,
  )

const sentNames = ({ rawHeaders }: Received): Set<string> =>
  new Set(rawHeaders.filter((_text, at) => at % 2 === 0).map((name) => name.toLowerCase()))

/** The gateway stops waiting; the function goes on, as on AWS. */
async function withinLimit({ timeoutMs }: Integration, outcome: Promise<Outcome>): Promise<Outcome | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), timeoutMs)
  })
  try {
    return await Promise.race([outcome, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The $context variables that a gateway response may use. */
export const errorContext = (
  { requestId, extendedRequestId, method, sourceIp }: Omit<Received, 'body' | 'rawHeaders' | 'target'>,
  { id, stage, accountId }: Api,
  resource: string | null,
) => ({
  requestId,
  extendedRequestId,
  httpMethod: method,
  'identity.sourceIp': sourceIp,
  apiId: id,
  stage,
  accountId,
  resourcePath: resource ?? '',
})
