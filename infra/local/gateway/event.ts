import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Match } from './routes.ts'

export type ReceivedRequest = {
  readonly method: string
  /** The request line's target. */
  readonly target: string
  /** Name, value, name, value, in the sent order and case. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  readonly protocol: string
  readonly sourceIp: string
  readonly port: number
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  readonly requestId: string
  readonly extendedRequestId: string
  readonly traceId: string
}

export type Api = {
  readonly id: string
  readonly stage: string
  readonly accountId: string
  /** The prefix of the path of every request: the stage, unless the API has a custom domain. */
  readonly pathPrefix?: string
}

export type Target = {
  /** The path as the API sees it, without a leading double slash. */
  readonly path: string
  /** The path as it was sent. */
  readonly sentPath: string
  readonly query: ReadonlyMap<string, string[]>
}

/** A request target that a REST API rejects before routing. */
export class BadTarget extends Error {}

/** A path of an API or stage that does not exist. No API responds to it, so its gateway responses do not apply. */
export class OtherApi extends Error {}

/** @throws BadTarget, and OtherApi for a path that does not begin with the prefix */
export function readTarget(target: string, pathPrefix = ''): Target {
  const [whole = '', ...rest] = target.replace(/^https?:\/\/[^/?]*/i, '').split('?')
  const sentPath = whole === '' ? '/' : whole
  checkEscapes(sentPath)
  if (!sentPath.startsWith('/')) throw new BadTarget()
  const path = sentPath.replace(/^\/{2,}/, '/')
  const own = path.slice(pathPrefix.length)
  if (!path.startsWith(pathPrefix) || !/^(\/|$)/.test(own)) throw new OtherApi()
  return { sentPath, path: own || '/', query: readQuery(rest.join('?')) }
}

/** `+` is a space, `;` separates like `&`, and `|`, `{` and `}` must be encoded (API Gateway, important notes). */
function readQuery(raw: string): Map<string, string[]> {
  if (/[|{}]/.test(raw)) throw new BadTarget()
  const query = new Map<string, string[]>()
  for (const pair of raw.split(/[&;]/)) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals === -1 ? pair : pair.slice(0, equals))
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1))
    query.set(name, [...(query.get(name) ?? []), value])
  }
  return query
}

/** Invalid UTF-8 becomes U+FFFD, as in Java; an incomplete escape is an error. */
function decode(text: string): string {
  checkEscapes(text)
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  // Node decodes the request line as Latin-1, so unencoded characters are bytes here.
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

function checkEscapes(text: string): void {
  if (/%(?![0-9a-f]{2})/i.test(text)) throw new BadTarget()
}

/** Headers that a REST API does not pass to a function (API Gateway, important notes). */
const DROPPED_HEADERS = new Set([
  'connection',
  'content-length',
  'content-md5',
  'expect',
  'keep-alive',
  'max-forwards',
  'proxy-authenticate',
  'server',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
])
const REPLACED_HEADERS = new Set([
  'x-forwarded-for',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-amzn-trace-id',
])
const SIGNATURE = /^AWS4-HMAC-SHA256 /

function readHeaders({ rawHeaders, sourceIp, port, traceId }: ReceivedRequest): Map<string, string[]> {
  const headers = new Map<string, string[]>()
  const forwarded: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const value = rawHeaders[at + 1] ?? ''
    const lower = name.toLowerCase()
    if (lower === 'x-forwarded-for') forwarded.push(value)
    if (
      DROPPED_HEADERS.has(lower) ||
      REPLACED_HEADERS.has(lower) ||
      (lower === 'authorization' && SIGNATURE.test(value))
    )
      continue
    headers.set(name, [...(headers.get(name) ?? []), value])
  }
  headers.set('X-Amzn-Trace-Id', [traceId])
  headers.set('X-Forwarded-For', [[...forwarded, sourceIp].join(', ')])
  headers.set('X-Forwarded-Port', [String(port)])
  headers.set('X-Forwarded-Proto', ['http'])
  return headers
}

const lastValues = (values: ReadonlyMap<string, string[]>) =>
  Object.fromEntries([...values].map(([name, sent]) => [name, sent.at(-1) ?? '']))

/** The event of a REST API's Lambda proxy integration. Its path has no stage; the path in its context is the one that was sent. */
export function buildEvent(
  request: ReceivedRequest,
  target: Target,
  match: Match,
  api: Api,
): APIGatewayProxyEvent {
  const headers = readHeaders(request)
  const { path, query } = target
  return {
    resource: match.route.resource,
    path,
    httpMethod: request.method,
    headers: lastValues(headers),
    multiValueHeaders: Object.fromEntries(headers),
    queryStringParameters: query.size > 0 ? lastValues(query) : null,
    multiValueQueryStringParameters: query.size > 0 ? Object.fromEntries(query) : null,
    pathParameters: match.pathParameters,
    stageVariables: null,
    requestContext: buildContext(request, target, match, api, headers),
    body: request.body.length > 0 ? request.body.toString('utf8') : null,
    isBase64Encoded: false,
  }
}

function buildContext(
  request: ReceivedRequest,
  { sentPath }: Target,
  { route }: Match,
  api: Api,
  headers: ReadonlyMap<string, string[]>,
): APIGatewayProxyEvent['requestContext'] {
  const headerValue = (wanted: string) =>
    [...headers].find(([name]) => name.toLowerCase() === wanted)?.[1].at(-1)
  const domainName = headerValue('host') ?? ''
  return {
    resourceId: route.resourceId,
    resourcePath: route.resource,
    httpMethod: request.method,
    extendedRequestId: request.extendedRequestId,
    requestTime: requestTime(request.receivedAt),
    path: sentPath,
    accountId: api.accountId,
    protocol: request.protocol,
    stage: api.stage,
    domainPrefix: domainName.split('.')[0] ?? '',
    requestTimeEpoch: request.receivedAt,
    requestId: request.requestId,
    identity: {
      ...ANONYMOUS_IDENTITY,
      sourceIp: request.sourceIp,
      userAgent: headerValue('user-agent') ?? null,
    },
    domainName,
    authorizer: undefined,
    apiId: api.id,
  }
}

const ANONYMOUS_IDENTITY = {
  cognitoIdentityPoolId: null,
  accountId: null,
  cognitoIdentityId: null,
  caller: null,
  principalOrgId: null,
  accessKey: null,
  cognitoAuthenticationType: null,
  cognitoAuthenticationProvider: null,
  userArn: null,
  user: null,
  apiKey: null,
  apiKeyId: null,
  clientCert: null,
}

/** Common Log Format: 10/Oct/2000:13:55:36 +0000 */
function requestTime(epochMs: number): string {
  const [, day, month, year, time] = new Date(epochMs).toUTCString().split(' ')
  return `${day}/${month}/${year}:${time} +0000`
}
