import type { Scope } from '../../domain/scope.ts'
import { type ErrorKey, errorEntry } from '../errors.ts'
import { acceptsIdempotencyKey, errorsOf, type Route, scopesOf } from '../route.ts'
import { errorResponse, errorSchema, groupByStatus, pascalCase } from './errors.ts'
import type { Examples, RecordedExchange } from './examples.ts'
import { successHeaders } from './headers.ts'
import type { Json, SchemaCollector } from './schemas.ts'
import { tagOf } from './tags.ts'

/** Errors of which every endpoint says the same: their answers are written once, and referred to. */
const SHARED_ERRORS: readonly ErrorKey[] = [
  'unauthorized',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal',
  'unavailable',
  'timeout',
]

/** One endpoint as the document shows it. */
export function operation(route: Route, schemas: SchemaCollector, examples: Examples): Json {
  const { id, summary, description, body } = route
  const successes = examples.successes[id] ?? {}
  const requestPath = Object.values(successes)[0]?.path ?? ''
  return {
    operationId: id,
    tags: [tagOf(route)],
    summary,
    description: [description, scopeSentence(route)].filter((text) => text !== undefined).join('\n\n'),
    security: scopesOf(route).map((scope) => ({ Developer: [scope] })),
    parameters: [
      ...pathParameters(route, requestPath),
      ...queryParameters(route, schemas, requestPath),
      ...idempotencyKeyParameter(route),
    ],
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: {
          'application/json': {
            schema: schemas.schemaOf(body, 'input'),
            ...examplesOf(successes, 'request'),
          },
        },
      },
    }),
    responses: {
      [route.response.status]: successResponse(route, schemas, successes),
      ...Object.fromEntries(errorResponses(route, schemas, examples)),
    },
  }
}

function scopeSentence(route: Route): string {
  const { scope } = route
  if (typeof scope === 'string') return `Scope: \`${scope}\`.`
  const alternatives = Object.entries(scope.byValue).map(
    ([value, of]) => `\`${of}\` for \`${scope.field}\` \`${value}\``,
  )
  return `Scope: ${alternatives.join(', ')}.`
}

/** The values of `asked`, the path of a request that was answered, are the examples. */
function pathParameters({ path, params = {} }: Route, requestPath: string): Json[] {
  const segments = path.split('/')
  const requestSegments = requestPath.split('?')[0]?.split('/') ?? []
  return Object.entries(params).map(([name, notFound]) => ({
    name,
    in: 'path',
    required: true,
    description: `What is no UUID is answered like an unknown one: \`${notFound}\`.`,
    schema: { type: 'string', format: 'uuid' },
    ...example(requestSegments[segments.indexOf(`{${name}}`)]),
  }))
}

const example = (value: unknown): Json => (value === undefined ? {} : { example: value })

function queryParameters({ query }: Route, { schemaOf }: SchemaCollector, requestPath: string): Json[] {
  if (!query) return []
  const sent = new URLSearchParams(requestPath.split('?')[1])
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
    ...example(parseParameter(schema, sent.get(name))),
  }))
}

function parseParameter({ type }: Json, sent: string | null): unknown {
  if (sent === null) return undefined
  return type === 'integer' ? Number(sent) : sent
}

const idempotencyKeyParameter = (route: Route): Json[] =>
  acceptsIdempotencyKey(route) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []

function successResponse(
  { method, response }: Route,
  { schemaOf }: SchemaCollector,
  successes: Readonly<Record<string, RecordedExchange>>,
): Json {
  const headers = successHeaders({ method, response })
  if (response.status === 204) return { description: 'Done; there is nothing to say.', headers }
  return {
    description: DESCRIPTIONS[response.status] ?? 'The answer.',
    headers,
    content: {
      'application/json': { schema: schemaOf(response.body, 'output'), ...examplesOf(successes, 'answer') },
    },
  }
}

const DESCRIPTIONS: Record<number, string> = { 201: 'Made.', 202: 'Accepted.' }

function examplesOf(
  exchanges: Readonly<Record<string, RecordedExchange>>,
  side: keyof RecordedExchange,
): { examples?: Json } {
  const values = Object.entries(exchanges).filter(([, exchange]) => exchange[side] !== undefined)
  if (values.length === 0) return {}
  return { examples: Object.fromEntries(values.map(([name, exchange]) => [name, { value: exchange[side] }])) }
}

/** One response for each status: a key that the route cannot send does not fit it. */
function errorResponses(route: Route, schemas: SchemaCollector, examples: Examples): [string, Json][] {
  const overrides = examples.refusals[route.id] ?? {}
  return groupByStatus(errorsOf(route)).map(([status, keys]) => {
    const [key, ...more] = keys
    if (key && more.length === 0 && SHARED_ERRORS.includes(key))
      return [status, { $ref: `#/components/responses/${pascalCase(key)}` }]
    return [status, errorResponse(keys, refsTo(keys, schemas), examples, overrides)]
  })
}

const refsTo = (keys: readonly ErrorKey[], schemas: SchemaCollector): Json[] =>
  keys.map((key) => schemas.add(`${pascalCase(key)}Error`, errorSchema(key, schemas)))

/** The answers that every endpoint has alike, by their names. */
export const sharedResponses = (schemas: SchemaCollector, examples: Examples): Json =>
  Object.fromEntries(
    SHARED_ERRORS.map((key) => [pascalCase(key), errorResponse([key], refsTo([key], schemas), examples)]),
  )

/** Scopes in the words of what they open. */
export function scopeDescriptions(routes: readonly Route[]): Partial<Record<Scope, string>> {
  const texts: Partial<Record<Scope, string>> = {}
  for (const route of routes) {
    for (const scope of scopesOf(route)) {
      const operationText = `${route.method} ${route.path}${conditionOf(route, scope)}`
      texts[scope] = texts[scope] === undefined ? operationText : `${texts[scope]}, ${operationText}`
    }
  }
  return texts
}

function conditionOf({ scope }: Route, opened: Scope): string {
  if (typeof scope === 'string') return ''
  const values = Object.keys(scope.byValue).filter((value) => scope.byValue[value] === opened)
  return ` with ${scope.field} ${values.join(', ')}`
}

/** What is no endpoint: a path that is none, or another method of one that is. */
export const unmatchedRequests = (schemas: SchemaCollector, examples: Examples): Json => ({
  description:
    'Every other path, and every other method of these paths, is answered so, whoever asks. Requests that the gateway ' +
    'cannot read get the 400, 413 and 429 of the endpoints.',
  responses: Object.fromEntries(
    (['route_not_found', 'method_not_allowed'] as const).map((key) => [
      errorEntry(key).status,
      errorResponse([key], [errorSchema(key, schemas)], examples),
    ]),
  ),
})
