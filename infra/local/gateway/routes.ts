import { createHash } from 'node:crypto'
import type { ResolvedTemplate } from '../template/template.ts'
import { minCompressionSizeOf } from './compression.ts'
import { checkParameters, type ErrorContext, resolveParameter } from './errors.ts'
import { type OpenApiIntegration, openApiBodies } from './open-api.ts'
import type { HttpResponse } from './response.ts'

/** A mock integration: the response to every request, by no function. */
type Mock = {
  /** Media types with a template. A body of another type is rejected with a 415. */
  readonly mediaTypes: ReadonlySet<string>
  readonly respond: (context: ErrorContext) => HttpResponse
}

/** What a method of a resource does: it invokes a function, or returns the same to every request. */
export type Integration = Invocation | Mock

/** The function that a method of a resource invokes. */
export type Invocation = { readonly functionArn: string; readonly timeoutMs: number }

export type GatewayRoute = {
  /** The resource path of the template, such as `/patients/{id}`. */
  readonly resource: string
  readonly resourceId: string
  readonly segments: readonly string[]
  /** The integrations by method, or ANY. */
  readonly methods: ReadonlyMap<string, Integration>
  /** The size in bytes from which responses are compressed, if they are. */
  readonly minCompressionSize: number | undefined
}

export type Match = {
  readonly route: GatewayRoute
  readonly integration: Integration
  readonly pathParameters: Readonly<Record<string, string>> | null
}

/** The methods that ANY includes; a REST API supports no others. TRACE gets the same 405 here. */
const METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'])
const INTEGRATION_TIMEOUT_MS = 29_000

type Resource = Pick<GatewayRoute, 'resource' | 'resourceId' | 'methods'>

/** The routes of the API, most specific first. @throws Error that names an unsupported method */
export function routesOf(template: ResolvedTemplate): GatewayRoute[] {
  const minCompressionSize = minCompressionSizeOf(template)
  const [method] = template.resourcesOf('AWS::ApiGateway::Method')
  if (method)
    throw new Error(`${method.id} is not in the document of its API; the local gateway supports no others.`)
  return definedByDocument(template)
    .map((resource) => ({ ...resource, segments: segmentsOf(resource.resource), minCompressionSize }))
    .sort(bySpecificity)
}

const ANY_METHOD = 'x-amazon-apigateway-any-method'

const definedByDocument = (template: ResolvedTemplate): Resource[] =>
  openApiBodies(template).flatMap(({ id, body }) =>
    Object.entries(body.paths).map(([resource, item]) => {
      const methods = Object.entries(item).map(([name, { [INTEGRATION]: integration = {} }]) => {
        const method = name === ANY_METHOD ? 'ANY' : name.toUpperCase()
        return [method, integrationOf(`${id}: ${method} ${resource}`, integration)] as const
      })
      const resourceId = createHash('sha256').update(`${id}${resource}`).digest('hex').slice(0, 6)
      return { resource, resourceId, methods: new Map(methods) }
    }),
  )

const INTEGRATION = 'x-amazon-apigateway-integration'

function integrationOf(id: string, integration: OpenApiIntegration): Integration {
  const { type = '', uri = '', timeoutInMillis: timeoutMs = INTEGRATION_TIMEOUT_MS } = integration
  if (type.toUpperCase() === 'MOCK') return mockOf(id, integration)
  const functionArn = /functions\/(arn:[^/]+)\/invocations$/.exec(uri)?.[1]
  if (type.toUpperCase() !== 'AWS_PROXY' || !functionArn)
    throw new Error(
      `${id} has neither a Lambda proxy integration nor a mock, the only kinds that the local gateway supports.`,
    )
  return { functionArn, timeoutMs }
}

const HEADER_PREFIX = 'method.response.header.'

/** The mock of an operation. @throws Error for what the local gateway does not support, such as templates that depend on the request */
function mockOf(
  id: string,
  { passthroughBehavior = '', requestTemplates = {}, responses = {} }: OpenApiIntegration,
): Mock {
  const { default: response, ...others } = responses
  const { statusCode, responseParameters = {}, responseTemplates = {} } = response ?? {}
  const [[contentType, body] = ['', '']] = Object.entries(responseTemplates)
  const isSupported =
    Object.keys(others).length === 0 &&
    passthroughBehavior.toUpperCase() === 'NEVER' &&
    Object.values(requestTemplates).every((template) => template === `{"statusCode":${statusCode}}`) &&
    Object.keys(responseTemplates).length === 1 &&
    !/[$#]/.test(body)
  if (!isSupported)
    throw new Error(`${id} has a mock that depends on the request, which the local gateway does not support.`)
  checkParameters(id, HEADER_PREFIX, responseParameters)
  return {
    mediaTypes: new Set(Object.keys(requestTemplates)),
    respond: (context) => ({
      status: Number(statusCode),
      headers: [
        ['Content-Type', contentType],
        ...Object.entries(responseParameters).map(
          ([name, value]) => [name.slice(HEADER_PREFIX.length), resolveParameter(value, context)] as const,
        ),
      ],
      body,
    }),
  }
}

const segmentsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')

/** 0 for a literal segment, 1 for a parameter, 2 for a greedy parameter. */
function wildcardRank(segment: string): number {
  if (!segment.startsWith('{') || !segment.endsWith('}')) return 0
  return segment.endsWith('+}') ? 2 : 1
}

/** Compares segments from the left: literal before parameter before greedy parameter. */
function bySpecificity(one: GatewayRoute, other: GatewayRoute): number {
  for (let at = 0; at < Math.min(one.segments.length, other.segments.length); at++) {
    const difference = wildcardRank(one.segments[at] ?? '') - wildcardRank(other.segments[at] ?? '')
    if (difference !== 0) return difference
  }
  return other.segments.length - one.segments.length
}

/**
 * The first route that matches the path and has the method. If a resource lacks the method, a less specific one is
 * used, as on AWS.
 */
export function matchRoute(routes: readonly GatewayRoute[], method: string, path: string): Match | null {
  const segments = path.replace(/\/$/, '').split('/').slice(1)
  for (const route of routes) {
    const integration =
      route.methods.get(method) ?? (METHODS.has(method) ? route.methods.get('ANY') : undefined)
    const pathParameters = integration && parametersOf(route.segments, segments)
    if (integration && pathParameters)
      return {
        route,
        integration,
        pathParameters: pathParameters.size > 0 ? Object.fromEntries(pathParameters) : null,
      }
  }
  return null
}

/** Values stay percent-encoded, as on AWS. */
function parametersOf(pattern: readonly string[], segments: readonly string[]): Map<string, string> | null {
  const parameters = new Map<string, string>()
  for (const [at, part] of pattern.entries()) {
    const sent = segments[at]
    if (sent === undefined) return null
    const name = part.slice(1, -1)
    if (wildcardRank(part) === 2) return parameters.set(name.slice(0, -1), segments.slice(at).join('/'))
    if (wildcardRank(part) === 1 && sent !== '') parameters.set(name, sent)
    else if (part !== sent) return null
  }
  return segments.length === pattern.length ? parameters : null
}
