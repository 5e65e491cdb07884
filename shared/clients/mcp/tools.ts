import {
  type ApiDocument,
  type Endpoint,
  endpointsOf,
  type Parameter,
  resolve,
  type Schema,
} from '../../openapi/read-document.ts'

/** A tool of an assistant: one operation of the API. */
export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Of the API document, such as `/patients/{id}`. */
  readonly path: string
  readonly tag: string
  /** The credential needs one of these scopes; none if this is empty. */
  readonly scopes: readonly string[]
  readonly inputSchema: {
    readonly type: 'object'
    readonly properties: Readonly<Record<string, Schema>>
    readonly required: readonly string[]
    readonly additionalProperties: false
  }
  /** Where a request has each field of the input. */
  readonly places: Readonly<Record<string, Place>>
  readonly hasBody: boolean
  readonly isList: boolean
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
  }
}

export type Place = Parameter['in'] | 'body'

type Field = {
  readonly name: string
  readonly place: Place
  readonly schema: Schema
  readonly required: boolean
}

/**
 * The tools: one for each operation of the API document that is not deprecated.
 * @throws Error naming an operation that cannot be a tool
 */
export const toolsOf = (document: ApiDocument): Tool[] =>
  endpointsOf(document.paths).map((endpoint) => toolOf(document, endpoint))

function toolOf(document: ApiDocument, { method, path, operation }: Endpoint): Tool {
  const { operationId: name, summary: title, description, tags, requestBody, responses } = operation
  const fields = [
    ...(operation.parameters ?? []).flatMap((one) => parameterField(document, one)),
    ...bodyFields(document, name, requestBody?.content['application/json']?.schema),
  ]
  const twice = fields.find((field, at) => fields.findIndex((one) => one.name === field.name) !== at)
  if (twice) throw new Error(`${name} has two fields with the name ${twice.name}.`)
  const [status = '', success] = Object.entries(responses)[0] ?? []
  const result = success && resolve(document, success).content?.['application/json']?.schema
  const data = result && resolve(document, result).properties?.data
  return {
    name,
    title,
    description: description ?? title,
    method: method as Tool['method'],
    path,
    tag: tags[0] ?? '',
    scopes: operation['x-required-scopes'],
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(fields.map((field) => [field.name, field.schema])),
      required: fields.filter(({ required }) => required).map((field) => field.name),
      additionalProperties: false,
    },
    places: Object.fromEntries(fields.map((field) => [field.name, field.place])),
    hasBody: requestBody !== undefined,
    isList: data?.type === 'array',
    annotations: {
      readOnlyHint: method === 'GET',
      // 201 and 202 add something; other changes may replace or remove it.
      destructiveHint: method !== 'GET' && status !== '201' && status !== '202',
      idempotentHint: method !== 'POST',
    },
  }
}

/** The header `idempotency-key` is a field, so that an assistant can repeat a request. No other header is one. */
function parameterField(document: ApiDocument, reference: Parameter): Field[] {
  const parameter = resolve(document, reference)
  const { name, in: place, required = false, deprecated, description } = parameter
  if (deprecated || (place === 'header' && name !== 'idempotency-key')) return []
  const schema = { ...inlined(document, parameter.schema), ...(description && { description }) }
  return [{ name: name.replaceAll('-', '_'), place, schema, required }]
}

/** The fields of a body, without deprecated ones. Hosts accept no alternatives at the top of an input schema. */
function bodyFields(document: ApiDocument, operation: string, schema: Schema | undefined): Field[] {
  if (!schema) return []
  const [body, ...others] = (schema.anyOf ?? [schema])
    .map((one) => inlined(document, one))
    .filter(({ deprecated }) => !deprecated)
  if (body?.type !== 'object' || others.length > 0)
    throw new Error(`The body of ${operation} is not one object.`)
  return Object.entries(body.properties ?? {})
    .filter(([, { deprecated }]) => !deprecated)
    .map(([name, field]) => ({
      name,
      place: 'body',
      schema: field,
      required: body.required?.includes(name) ?? false,
    }))
}

/** A schema with what its references refer to in their place. */
function inlined<T>(document: ApiDocument, value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => inlined(document, one)) as T
  const { $ref, ...rest } = value as { $ref?: string }
  const entries = Object.entries(rest).map(([name, one]) => [name, inlined(document, one)])
  return { ...($ref && inlined(document, resolve(document, { $ref }))), ...Object.fromEntries(entries) }
}
