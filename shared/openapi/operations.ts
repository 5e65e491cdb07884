import * as z from 'zod'
import { type ErrorKey, errorEntry } from '../api/error-catalogue.ts'
import {
  acceptsIdempotencyKey,
  acceptsIfMatch,
  errorsOf,
  type Route,
  retrievesRecord,
  scopesOf,
} from '../api/route.ts'
import { SCOPES, type Scope } from '../domain/scope.ts'
import { errorResponse, errorSchema, groupByStatus, pascalCase } from './errors.ts'
import { type Exchange, exampleIdOf, exchangesOf } from './examples.ts'
import { notModifiedHeaders, successHeaders } from './headers.ts'
import { type Json, type SchemaCollector, unwrapped } from './schemas.ts'
import { tagOf } from './tags.ts'

/** Errors that are the same for every endpoint: their responses are shared components. */
const SHARED_ERRORS: readonly ErrorKey[] = [
  'unauthorized',
  'request_blocked',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal',
  'unavailable',
  'timeout',
]

/** An endpoint as an operation of the document; without examples, which show no aliases, if it is a second path. */
export function operation(route: Route, schemas: SchemaCollector): Json {
  const whole = withExamples(route, schemas)
  if (route.aliasOf === undefined) return whole
  return JSON.parse(JSON.stringify(whole), (key, value) => (/^examples?$/.test(key) ? undefined : value))
}

function withExamples(route: Route, schemas: SchemaCollector): Json {
  const { id, summary, description, body, fieldAliases } = route
  const exchanges = exchangesOf(route)
  return {
    operationId: id,
    tags: [tagOf(route)],
    summary,
    ...(route.deprecated && { deprecated: true }),
    description: [aliasSentence(route), removalSentence(route), description, scopeSentence(route)]
      .filter((text) => text !== undefined)
      .join('\n\n'),
    security: [{ Developer: [] }],
    // Not in `security`, where tools expect scopes of OAuth only. One of them is enough.
    'x-required-scopes': scopesOf(route),
    parameters: [
      ...pathParameters(route),
      ...queryParameters(route, schemas, Object.values(exchanges)[0]?.query ?? {}),
      ...headerParameters(route),
    ],
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: {
          'application/json': {
            schema: bodySchema(body, fieldAliases, schemas),
            ...examplesOf(exchanges, 'request'),
          },
        },
      },
    }),
    responses: {
      [route.response.status]: successResponse(route, schemas, exchanges),
      ...(route.response.unchangedStatus && {
        [route.response.unchangedStatus]: {
          ...successResponse(route, schemas, exchanges),
          description: 'Exists already',
        },
      }),
      ...(retrievesRecord(route) && { 304: { description: 'Not modified', headers: notModifiedHeaders() } }),
      ...Object.fromEntries(errorResponses(route, schemas)),
    },
  }
}

const aliasSentence = ({ aliasOf }: Route): string | undefined =>
  aliasOf === undefined ? undefined : `Another path of \`${aliasOf}\`, for existing clients.`

const removalSentence = ({ deprecated }: Route): string | undefined =>
  deprecated &&
  `Deprecated since ${deprecated.since}, and removed on ${deprecated.sunset}: the headers \`deprecation\` and \`sunset\` have these dates.`

function scopeSentence(route: Route): string {
  const { scope } = route
  if (scope === null) return 'Requires no scope, only a valid credential.'
  if (typeof scope === 'string')
    return `Scope: \`${scope}\`${route.furtherScope ? ', and that of the entity' : ''}.`
  const alternatives = Object.entries(scope.byValue).map(
    ([value, of]) => `\`${of}\` for \`${scope.field}\` \`${value}\``,
  )
  return `Scope: ${alternatives.join(', ')}.`
}

function pathParameters({ params = {} }: Route): Json[] {
  return Object.entries(params).map(([name, notFound]) => ({
    name,
    in: 'path',
    required: true,
    description: `A malformed id is treated like an unknown one and returns \`${notFound}\`.`,
    schema: { type: 'string', format: 'uuid' },
    example: exampleIdOf(notFound),
  }))
}

function queryParameters(
  { id, aliasOf = id, query }: Route,
  { schemaOf, descriptions }: SchemaCollector,
  sent: NonNullable<Exchange['query']>,
): Json[] {
  if (!query) return []
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description: descriptions.parameter(aliasOf, name),
    schema,
    ...(sent[name] !== undefined && {
      example: schema.type === 'integer' ? Number(sent[name]) : sent[name],
    }),
  }))
}

const headerParameters = (route: Route): Json[] => [
  ...(acceptsIdempotencyKey(route)
    ? [
        { $ref: '#/components/parameters/IdempotencyKey' },
        { $ref: '#/components/parameters/IdempotencyKeyAlias' },
      ]
    : []),
  ...(retrievesRecord(route) ? [{ $ref: '#/components/parameters/IfNoneMatch' }] : []),
  ...(acceptsIfMatch(route) ? [{ $ref: '#/components/parameters/IfMatch' }] : []),
]

function successResponse(
  route: Route,
  { schemaOf, descriptions }: SchemaCollector,
  exchanges: Readonly<Record<string, Exchange>>,
): Json {
  const { id, response } = route
  const headers = successHeaders(route)
  if (response.status === 204) return { description: 'No content', headers }
  return {
    description: DESCRIPTIONS[response.status] ?? 'OK',
    headers,
    content: {
      'application/json': {
        schema: descriptions.schema(id, schemaOf(successBody(response), 'output')),
        ...examplesOf(exchanges, 'response'),
      },
    },
  }
}

/** The body of a success, for a credential that may read its record or not. */
function successBody({ body, record }: Route['response']): z.ZodType {
  if (!record?.reference) return body
  const envelope = unwrapped(body) as z.ZodObject
  return envelope.extend({ data: z.union([envelope.shape.data as z.ZodType, record.reference.schema]) })
}

const DESCRIPTIONS: Record<number, string> = { 201: 'Created', 202: 'Accepted' }

function examplesOf(exchanges: Readonly<Record<string, Exchange>>, side: 'request' | 'response'): Json {
  const values = Object.entries(exchanges).map(([name, exchange]) => [name, { value: exchange[side] }])
  return { examples: Object.fromEntries(values) }
}

/** One response for each status, which permits only the errors that the route declares. */
function errorResponses(route: Route, schemas: SchemaCollector): [string, Json][] {
  return groupByStatus(errorsOf(route)).map(([status, keys]) => {
    const [key, ...more] = keys
    if (key && more.length === 0 && SHARED_ERRORS.includes(key) && !route.deprecated)
      return [status, { $ref: `#/components/responses/${pascalCase(key)}` }]
    return [status, errorResponse(keys, refsTo(keys, schemas), route)]
  })
}

const refsTo = (keys: readonly ErrorKey[], schemas: SchemaCollector): Json[] =>
  keys.map((key) => schemas.add(`${pascalCase(key)}Error`, errorSchema(key, schemas)))

/** The responses that all endpoints share, by component name. */
export const sharedResponses = (schemas: SchemaCollector): Json =>
  Object.fromEntries(
    SHARED_ERRORS.map((key) => [pascalCase(key), errorResponse([key], refsTo([key], schemas))]),
  )

/** The operations that each scope grants, as text. */
export function scopeDescriptions(routes: readonly Route[]): Record<Scope, string> {
  const texts = Object.fromEntries(SCOPES.map((scope) => [scope, ''])) as Record<Scope, string>
  for (const route of routes.filter(({ aliasOf }) => aliasOf === undefined)) {
    const add = (scope: Scope, condition: string) => {
      const operationText = `${route.method} ${route.path}${condition}`
      texts[scope] = texts[scope] === '' ? operationText : `${texts[scope]}, ${operationText}`
    }
    for (const scope of scopesOf(route)) add(scope, conditionOf(route, scope))
    for (const [name, scope] of Object.entries(route.parameterScopes ?? {})) add(scope, ` with ${name}`)
    const { field, byValue } = route.furtherScope ?? { field: '', byValue: {} }
    const further = Map.groupBy(Object.keys(byValue), (value) => byValue[value])
    for (const [scope, values] of further) if (scope) add(scope, ` with ${field} ${values.join(', ')}`)
  }
  return texts
}

function conditionOf({ scope }: Route, opened: Scope): string {
  if (scope === null || typeof scope === 'string') return ''
  const values = Object.keys(scope.byValue).filter((value) => scope.byValue[value] === opened)
  return ` with ${scope.field} ${values.join(', ')}`
}

/** The responses to unmatched requests: an unknown path, or an unsupported method of a known path. */
export const unmatchedRequests = (schemas: SchemaCollector): Json => ({
  description:
    'Responses to every other path and every other method of these paths, with or without a credential. Requests that the ' +
    'gateway rejects receive the same 400, 413, 415 and 429 as requests to endpoints.',
  responses: Object.fromEntries(
    (['route_not_found', 'method_not_allowed'] as const).map((key) => [
      errorEntry(key).status,
      errorResponse([key], [schemas.descriptions.schema(key, errorSchema(key, schemas))]),
    ]),
  ),
})

/** The schema of a request body; with field aliases, the same schema under their names as a deprecated alternative. */
function bodySchema(
  body: z.ZodObject,
  aliases: Readonly<Record<string, string>> | undefined,
  schemas: SchemaCollector,
): Json {
  const schema = schemas.schemaOf(body, 'input')
  if (!aliases) return schema
  const name = String(schema.$ref).replace('#/components/schemas/', '')
  const aliased = schemas.add(`${name}WithAliases`, withAliases(schemas.get(name), aliases))
  return { anyOf: [schema, aliased] }
}

function withAliases(schema: Json, aliases: Readonly<Record<string, string>>): Json {
  const names = new Map(Object.entries(aliases).map(([alias, field]) => [field, alias]))
  const { properties = {}, required = [] } = schema as {
    properties?: Readonly<Record<string, Json>>
    required?: readonly string[]
  }
  const renamed = Object.entries(properties).map(([field, of]) => {
    const alias = names.get(field)
    return alias === undefined ? [field, of] : [alias, { ...of, deprecated: true }]
  })
  return {
    ...schema,
    deprecated: true,
    description: 'The same fields under the names that existing clients send.',
    properties: Object.fromEntries(renamed),
    required: required.map((field) => names.get(field) ?? field),
  }
}
