import type { Scope } from '../../domain/scope.ts'
import { type ErrorKey, errorEntry } from '../errors.ts'
import { errorsOf, isRepeatable, type Route, scopesOf } from '../route.ts'
import { byStatus, errorResponse, errorSchema, pascalCase } from './errors.ts'
import type { Examples, RecordedExchange } from './examples.ts'
import { successHeaders } from './headers.ts'
import type { Json, SchemaCollector } from './schemas.ts'
import { tagOf } from './tags.ts'

/** Errors of which every endpoint says the same: their answers are written once, and referred to. */
const ALIKE: readonly ErrorKey[] = [
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
  const asked = Object.values(successes)[0]?.path ?? ''
  return {
    operationId: id,
    tags: [tagOf(route)],
    summary,
    description: [description, scopeSentence(route)].filter((text) => text !== undefined).join('\n\n'),
    security: scopesOf(route).map((scope) => ({ Developer: [scope] })),
    parameters: [
      ...pathParameters(route, asked),
      ...queryParameters(route, schemas, asked),
      ...keyParameter(route),
    ],
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: {
          'application/json': {
            schema: schemas.schemaOf(body, 'input'),
            ...shown(successes, 'request'),
          },
        },
      },
    }),
    responses: {
      [route.response.status]: success(route, schemas, successes),
      ...Object.fromEntries(refusals(route, schemas, examples)),
    },
  }
}

function scopeSentence(route: Route): string {
  const { scope } = route
  if (typeof scope === 'string') return `Scope: \`${scope}\`.`
  const each = Object.entries(scope.of).map(([value, of]) => `\`${of}\` for \`${scope.field}\` \`${value}\``)
  return `Scope: ${each.join(', ')}.`
}

/** The values of `asked`, the path of a request that was answered, are the examples. */
function pathParameters({ path, params = {} }: Route, asked: string): Json[] {
  const at = path.split('/')
  const sent = asked.split('?')[0]?.split('/') ?? []
  return Object.entries(params).map(([name, notFound]) => ({
    name,
    in: 'path',
    required: true,
    description: `What is no UUID is answered like an unknown one: \`${notFound}\`.`,
    schema: { type: 'string', format: 'uuid' },
    ...example(sent[at.indexOf(`{${name}}`)]),
  }))
}

const example = (value: unknown): Json => (value === undefined ? {} : { example: value })

function queryParameters({ query }: Route, { schemaOf }: SchemaCollector, asked: string): Json[] {
  if (!query) return []
  const sent = new URLSearchParams(asked.split('?')[1])
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
    ...example(asTyped(schema, sent.get(name))),
  }))
}

function asTyped({ type }: Json, sent: string | null): unknown {
  if (sent === null) return undefined
  return type === 'integer' ? Number(sent) : sent
}

const keyParameter = (route: Route): Json[] =>
  isRepeatable(route) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []

function success(
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
      'application/json': { schema: schemaOf(response.body, 'output'), ...shown(successes, 'answer') },
    },
  }
}

const DESCRIPTIONS: Record<number, string> = { 201: 'Made.', 202: 'Accepted.' }

function shown(
  exchanges: Readonly<Record<string, RecordedExchange>>,
  side: keyof RecordedExchange,
): { examples?: Json } {
  const values = Object.entries(exchanges).filter(([, exchange]) => exchange[side] !== undefined)
  if (values.length === 0) return {}
  return { examples: Object.fromEntries(values.map(([name, exchange]) => [name, { value: exchange[side] }])) }
}

/** One response for each status: a key that the route cannot send does not fit it. */
function refusals(route: Route, schemas: SchemaCollector, examples: Examples): [string, Json][] {
  const own = examples.refusals[route.id] ?? {}
  return byStatus(errorsOf(route)).map(([status, keys]) => {
    const [key, ...more] = keys
    if (key && more.length === 0 && ALIKE.includes(key))
      return [status, { $ref: `#/components/responses/${pascalCase(key)}` }]
    return [status, errorResponse(keys, refsTo(keys, schemas), examples, own)]
  })
}

const refsTo = (keys: readonly ErrorKey[], schemas: SchemaCollector): Json[] =>
  keys.map((key) => schemas.add(`${pascalCase(key)}Error`, errorSchema(key, schemas)))

/** The answers that every endpoint has alike, by their names. */
export const alikeResponses = (schemas: SchemaCollector, examples: Examples): Json =>
  Object.fromEntries(
    ALIKE.map((key) => [pascalCase(key), errorResponse([key], refsTo([key], schemas), examples)]),
  )

/** Scopes in the words of what they open. */
export function scopeTexts(routes: readonly Route[]): Partial<Record<Scope, string>> {
  const texts: Partial<Record<Scope, string>> = {}
  for (const route of routes) {
    for (const scope of scopesOf(route)) {
      const opened = `${route.method} ${route.path}${formOf(route, scope)}`
      texts[scope] = texts[scope] === undefined ? opened : `${texts[scope]}, ${opened}`
    }
  }
  return texts
}

function formOf({ scope }: Route, opening: Scope): string {
  if (typeof scope === 'string') return ''
  const values = Object.keys(scope.of).filter((value) => scope.of[value] === opening)
  return ` with ${scope.field} ${values.join(', ')}`
}

/** What is no endpoint: a path that is none, or another method of one that is. */
export const otherRequests = (schemas: SchemaCollector, examples: Examples): Json => ({
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
