/** Checks responses of the running API against the committed document, successes and errors alike. */
import { readFileSync } from 'node:fs'
import { type ErrorObject, Ajv2020 as JsonSchema, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { BASE_PATH } from '../../shared/api/route.ts'

type Ref = { readonly $ref?: string }
type Schema = Ref & {
  readonly type?: string
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
}
type Content = {
  readonly schema: Schema
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}
type Header = { readonly required?: boolean; readonly schema: Schema }
export type Response = {
  readonly headers?: Readonly<Record<string, Header | Ref>>
  readonly content?: Readonly<Record<string, Content>>
}
export type Parameter = {
  readonly description?: string
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema & Readonly<Record<string, any>>
  readonly example?: unknown
}
export type Operation = {
  readonly operationId: string
  readonly security: readonly object[]
  readonly 'x-required-scopes': readonly string[]
  readonly parameters: readonly (Parameter | Ref)[]
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, Response | Ref>>
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly securitySchemes: Readonly<Record<string, { readonly 'x-scopes': object }>>
  }
  readonly 'x-other-requests': { readonly responses: Readonly<Record<string, Response>> }
}

export const document = JSON.parse(
  readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
) as Document

/** Resolves a reference such as `#/components/headers/allow`; returns any other value unchanged. */
export function resolveRef<T extends object>(value: T | Ref): T {
  if (!('$ref' in value) || value.$ref === undefined) return value as T
  const steps = value.$ref.slice(2).split('/')
  return steps.reduce<any>((at, step) => at[step.replaceAll('~1', '/').replaceAll('~0', '~')], document)
}

const ajv = new JsonSchema({ strict: true, strictTypes: false, allErrors: true })
formats.default(ajv)
/** A schema whose references the validator can resolve from anywhere, and which permits no field that it does not describe. */
const closedSchema = (schema: object): Schema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"document#/$defs/'), (_, value) =>
    value?.type === 'object' ? { additionalProperties: false, ...value } : value,
  )

ajv.addSchema({ $id: 'document', $defs: closedSchema(document.components.schemas) })

const compiled = new Map<string, ValidateFunction>()

/** Describes how a value violates a schema of the document, or has fields that the schema lacks; null if it is valid. */
export function schemaError(schema: Schema, value: unknown): string | null {
  const text = JSON.stringify(schema)
  const validate = compiled.get(text) ?? ajv.compile(closedSchema(schema))
  compiled.set(text, validate)
  return validate(value) ? null : formatErrors(validate.errors ?? [])
}

/** Reports only the errors of the alternative that the value claims to be. */
function formatErrors(errors: readonly ErrorObject[]): string {
  const definition = ({ schemaPath }: ErrorObject) => /\$defs\/(\w+)\//.exec(schemaPath)?.[1] ?? ''
  const others = new Set(errors.filter(({ keyword }) => keyword === 'const').map(definition))
  const near = errors.filter((error) => error.keyword !== 'oneOf' && !others.has(definition(error)))
  return (near.length > 0 ? near : errors)
    .slice(0, MAX_ERRORS)
    .map(({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`)
    .join('; ')
}

const MAX_ERRORS = 10

/** Headers that gateways and servers add to any response; the document does not describe them. */
const TRANSPORT_HEADERS = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-amz-apigw-id',
  'x-amzn-errortype',
  'x-amzn-requestid',
  'x-amzn-trace-id',
])

export class UndocumentedResponse extends Error {}

/**
 * Checks one response against the document. Paths outside the base path are ignored.
 * @param path The request target, with base path and query.
 * @param body The parsed JSON; null for none.
 * @throws UndocumentedResponse naming the part of the response that the document does not have.
 */
export function assertConforms(
  method: string,
  path: string,
  status: number,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: unknown,
): void {
  const [target = ''] = path.split('?')
  const relativePath = target.replace(/^\/{2,}/, '/')
  if (relativePath !== BASE_PATH && !relativePath.startsWith(`${BASE_PATH}/`)) return
  const found = operationOf(method, relativePath.slice(BASE_PATH.length))
  const fail = (what: string): never => {
    throw new UndocumentedResponse(`${method} ${target} answers ${status}: ${what}\n${JSON.stringify(body)}`)
  }
  const response = responseOf(found, status) ?? fail('the document has no such status there')
  for (const problem of headerProblems(response, headers)) fail(problem)
  if (method === 'HEAD') return
  const problem = bodyProblem(response, headers, body)
  if (problem !== null) fail(problem)
}

/** The operation of a method and a path below the base path; null if there is none. */
export function operationOf(method: string, path: string): Operation | null {
  const segments = path.replace(/\/$/, '').split('/')
  const item = Object.keys(document.paths).find((template) => {
    const parts = template.split('/')
    return (
      parts.length === segments.length &&
      parts.every((part, at) => (part.startsWith('{') ? segments[at] !== '' : part === segments[at]))
    )
  })
  return document.paths[item ?? '']?.[method.toLowerCase()] ?? null
}

/** Statuses that the gateway may return for unmatched requests; they look like statuses of endpoints. */
const GATEWAY_STATUSES = new Set([400, 413, 429, 500, 503, 504])

function responseOf(operation: Operation | null, status: number): Response | null {
  if (operation) {
    const response = operation.responses[status]
    return response ? resolveRef(response) : null
  }
  const other = document['x-other-requests'].responses[status]
  if (other) return other
  const [anyOperation] = Object.values(document.paths).flatMap((item) => Object.values(item))
  return anyOperation && GATEWAY_STATUSES.has(status) ? responseOf(anyOperation, status) : null
}

function headerProblems(
  { headers: documented = {} }: Response,
  sent: Readonly<Record<string, string | readonly string[] | undefined>>,
): string[] {
  const problems: string[] = []
  const values = new Map(
    Object.entries(sent).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), [value].flat()] as const],
    ),
  )
  for (const name of values.keys()) {
    if (!TRANSPORT_HEADERS.has(name) && !(name in documented))
      problems.push(`the document has no header ${name} there`)
  }
  for (const [name, header] of Object.entries(documented)) {
    const { required, schema } = resolveRef(header)
    const [value, ...more] = values.get(name) ?? []
    if (value === undefined) {
      if (required) problems.push(`the header ${name} is missing`)
      continue
    }
    const typed = schema.type === 'integer' && /^\d+$/.test(value) ? Number(value) : value
    const problem = more.length > 0 ? 'is sent more than once' : schemaError(schema, typed)
    if (problem !== null) problems.push(`the header ${name}: ${JSON.stringify(value)} ${problem}`)
  }
  return problems
}

const JSON_TYPE = /^application\/json(; ?charset=utf-8)?$/i

function bodyProblem(
  { content }: Response,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: unknown,
): string | null {
  const [, type] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? []
  if (!content) return body === null || body === undefined ? null : 'the document has no body there'
  if (!JSON_TYPE.test(String(type))) return `the content-type is ${type}`
  const schema = content['application/json']?.schema ?? {}
  const { message } = (body ?? {}) as { message?: unknown }
  const keys = keysOf(schema)
  if (keys.length > 0 && !keys.includes(message))
    return `the document has no ${message} there, only ${keys.join(', ')}`
  return schemaError(schema, body)
}

/** The translation keys that an error may have; empty for other schemas. */
function keysOf(schema: Schema): unknown[] {
  if (schema.oneOf) return schema.oneOf.flatMap(keysOf)
  const { properties } = resolveRef(schema) as { properties?: { message?: { const?: string } } }
  return properties?.message?.const === undefined ? [] : [properties.message.const]
}
