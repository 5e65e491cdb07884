import * as z from 'zod'
import { describer } from './describe.ts'

/** A JSON Schema, or another object of the document. */
export type Json = { readonly [name: string]: unknown }

/** Whether a schema describes a request (`input`) or a response (`output`). */
type Direction = 'input' | 'output'

/** The bounds that zod writes for any integer. They carry no information. */
const DEFAULT_BOUNDS = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }

/** Converts the contracts' schemas to JSON Schema. Schemas with an id are collected as components and referenced. */
export function schemaCollector() {
  const components = new Map<string, Json>()
  const descriptions = describer()

  function schemaOf(schema: z.ZodType, io: Direction): Json {
    const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, { io, override: override[io] })
    for (const [name, definition] of Object.entries($defs)) add(name, withComponentRefs(definition))
    return withComponentRefs(own)
  }

  /** @throws Error for two different schemas with the same name */
  function add(name: string, schema: Json): Json {
    const known = components.get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`There are two different schemas named ${name}.`)
    components.set(name, schema)
    return { $ref: `#/components/schemas/${name}` }
  }

  return {
    schemaOf,
    add,
    get: (name: string): Json => components.get(name) ?? {},
    /** All components with descriptions, sorted by name. */
    all: (): Json =>
      Object.fromEntries(
        [...components]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, schema]) => [name, descriptions.schema(name, schema)]),
      ),
    descriptions,
  }
}

/** The schema that a lazy one makes; any other schema itself. */
export const unwrapped = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodLazy ? (schema.unwrap() as z.ZodType) : schema

export type SchemaCollector = ReturnType<typeof schemaCollector>

type Converted = { readonly zodSchema: z.core.$ZodTypes; readonly jsonSchema: Json }

const override = {
  input: adjust,
  /** Fields may be added to responses, so their schemas are open, unlike the contracts that the responses are checked against. */
  output: (converted: Converted) => {
    adjust(converted)
    const schema = converted.jsonSchema as Record<string, unknown>
    // Of a map, it is the schema of the values.
    if (Object.keys(schema.additionalProperties ?? {}).length === 0) delete schema.additionalProperties
  },
}

function adjust({ zodSchema, jsonSchema }: Converted): void {
  const schema = jsonSchema as Record<string, unknown>
  for (const [bound, value] of Object.entries(DEFAULT_BOUNDS))
    if (schema[bound] === value) delete schema[bound]
  // Without a format, generators for Go read numbers as float32, which rounds amounts.
  if (schema.type === 'number') schema.format = 'double'
  // zod omits a default from the input schema if the default applies after parsing.
  const metadata = z.globalRegistry.get(zodSchema)
  if (metadata?.default !== undefined) schema.default = metadata.default
}

const withComponentRefs = (schema: object): Json =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))
