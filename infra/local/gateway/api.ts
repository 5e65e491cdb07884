import { setTimeout as sleep } from 'node:timers/promises'
import { ABANDONED, type Outcome } from '../functions/pool.ts'
import { headerValues } from './compression.ts'
import type { GatewayErrorType, RenderError } from './errors.ts'
import {
  type Api,
  BadTarget,
  buildEvent,
  OtherApi,
  type ReceivedRequest,
  readTarget,
  type Target,
} from './event.ts'
import { type HttpResponse, readResult } from './response.ts'
import { type GatewayRoute, type Invocation, matchRoute } from './routes.ts'
import type { Throttle } from './throttle.ts'

export type DeployedApi = {
  readonly api: Api
  readonly routes: readonly GatewayRoute[]
  readonly throttle: Throttle
  readonly renderError: RenderError
  /** Whether too many requests wait for their function. */
  readonly isFull: () => boolean
  readonly invoke: (
    functionArn: string,
    event: string,
    traceId: string,
    abandoned?: AbortSignal,
  ) => Promise<Outcome>
}

export type RequestResult = {
  readonly httpResponse: HttpResponse
  readonly resource: string | null
  readonly diagnostics: readonly string[]
  /** The size in bytes from which the response is compressed if the caller accepts that. */
  readonly minCompressionSize?: number | undefined
}

/** Quotas of a REST API, in bytes: the request line with the header values, and the body. */
const MAX_HEAD = 10_240
export const MAX_BODY = 10 * 1024 * 1024
/** Lambda's limit of an event in bytes, slightly above 6 MB. */
const MAX_EVENT = 6_291_556

/**
 * Responds to a request as the deployed REST API would.
 * @param connection is aborted when the client disconnects
 */
export async function serveRequest(
  request: ReceivedRequest,
  deployed: DeployedApi,
  connection: AbortController,
): Promise<RequestResult> {
  const reject = (
    type: GatewayErrorType,
    resource: string | null = null,
    diagnostics: readonly string[] = [],
  ) => ({
    httpResponse: deployed.renderError(type, errorContext(request, deployed.api, resource)),
    resource,
    diagnostics,
  })
  const target = targetOf(request, deployed.api)
  if (target === 'bad') return reject('DEFAULT_4XX')
  if (target === 'other-api') return { httpResponse: FORBIDDEN, resource: null, diagnostics: [] }
  if (headSize(request) > MAX_HEAD || request.body.length > MAX_BODY) return reject('REQUEST_TOO_LARGE')

  const match = matchRoute(deployed.routes, request.method, target.path)
  // For an unmatched request, a REST API parses the Authorization header as an AWS signature.
  if (!match)
    return reject(
      headerNames(request).has('authorization') ? 'INVALID_SIGNATURE' : 'MISSING_AUTHENTICATION_TOKEN',
    )
  const { resource } = match.route
  if (!deployed.throttle(match.route, request.method)) return reject('THROTTLED', resource)
  const { integration } = match
  if ('respond' in integration) {
    if (request.body.length > 0 && !integration.mediaTypes.has(mediaTypeOf(request)))
      return reject('UNSUPPORTED_MEDIA_TYPE', resource)
    const httpResponse = integration.respond(errorContext(request, deployed.api, resource))
    return { httpResponse, resource, diagnostics: [], minCompressionSize: match.route.minCompressionSize }
  }
  if (deployed.isFull()) return reject('THROTTLED', resource)

  const event = JSON.stringify(buildEvent(request, target, match, deployed.api))
  if (Buffer.byteLength(event) > MAX_EVENT) return reject('REQUEST_TOO_LARGE', resource)
  const outcome = await withTimeout(
    integration,
    deployed.invoke(integration.functionArn, event, request.traceId, connection.signal),
  )
  if (!outcome) {
    connection.abort()
    return reject('INTEGRATION_TIMEOUT', resource)
  }
  if (!outcome.ok && outcome.error === ABANDONED)
    return { httpResponse: CLIENT_DISCONNECTED, resource, diagnostics: [] }
  if (!outcome.ok) return reject('DEFAULT_5XX', resource, outcome.diagnostics)
  const httpResponse = readResult(outcome.payload)
  if (!httpResponse)
    return reject('DEFAULT_5XX', resource, [...outcome.diagnostics, 'Malformed Lambda proxy response'])
  const headers = [...httpResponse.headers, ['X-Amzn-Trace-Id', request.traceId] as const]
  const { minCompressionSize } = match.route
  return {
    httpResponse: { ...httpResponse, headers },
    resource,
    diagnostics: outcome.diagnostics,
    minCompressionSize,
  }
}

function targetOf({ target }: ReceivedRequest, { pathPrefix }: Api): Target | 'bad' | 'other-api' {
  try {
    return readTarget(target, pathPrefix)
  } catch (error) {
    if (error instanceof BadTarget) return 'bad'
    if (error instanceof OtherApi) return 'other-api'
    throw error
  }
}

/** The response of API Gateway itself to a path without a stage. */
const FORBIDDEN: HttpResponse = {
  status: 403,
  headers: [
    ['Content-Type', 'application/json'],
    ['x-amzn-ErrorType', 'ForbiddenException'],
  ],
  body: '{"message":"Forbidden"}',
}

/** Is logged, and not received. The status is the one that nginx logs. */
const CLIENT_DISCONNECTED: HttpResponse = { status: 499, headers: [], body: '' }

const headSize = ({ method, target, protocol, rawHeaders }: ReceivedRequest): number =>
  rawHeaders.reduce(
    (size, text, at) => (at % 2 === 1 ? size + text.length : size),
    `${method} ${target} ${protocol}`.length,
  )

const headerNames = ({ rawHeaders }: ReceivedRequest): Set<string> =>
  new Set(rawHeaders.filter((_text, at) => at % 2 === 0).map((name) => name.toLowerCase()))

/** Without parameters. A request without a type counts as JSON. */
function mediaTypeOf({ rawHeaders }: ReceivedRequest): string {
  const [header = ''] = headerValues(rawHeaders, 'content-type')
  const [type = ''] = header.split(';')
  return type.trim().toLowerCase() || 'application/json'
}

/** After the timeout the gateway stops waiting, while the function continues if it has begun, as on AWS. */
async function withTimeout({ timeoutMs }: Invocation, outcome: Promise<Outcome>): Promise<Outcome | null> {
  const ended = new AbortController()
  try {
    return await Promise.race([outcome, sleep(timeoutMs, null, { signal: ended.signal })])
  } finally {
    ended.abort()
  }
}

/** The $context variables that a gateway response may use. */
export const errorContext = (
  { requestId, extendedRequestId, method, sourceIp }: Omit<ReceivedRequest, 'body' | 'rawHeaders' | 'target'>,
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
