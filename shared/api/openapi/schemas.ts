import * as z from 'zod'

/** A JSON Schema, or another object of the document. */
export type Json = { readonly [name: string]: unknown }

/** Which way a schema is read: as what is sent to us, or as what we answer. */
type Direction = 'input' | 'output'

/** What zod writes for any whole number, and says nothing. */
const DEFAULT_BOUNDS = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }

/** Turns the contracts' schemas into JSON Schema; those with an id are collected, and referred to. */
export function schemaCollector() {
  const components = new Map<string, Json>()

  function schemaOf(schema: z.ZodType, io: Direction): Json {
    const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, { io, override })
    for (const [name, definition] of Object.entries($defs)) add(name, withComponentRefs(definition))
    return withComponentRefs(own)
  }

  /** @throws Error for two different schemas of one name */
  function add(name: string, schema: Json): Json {
    const known = components.get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`There are two schemas named ${name}.`)
    components.set(name, schema)
    return { $ref: `#/components/schemas/${name}` }
  }

  return {
    schemaOf,
    add,
    /** By name. */
    all: (): Json => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

export type SchemaCollector = ReturnType<typeof schemaCollector>

function override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: Json }): void {
  const schema = jsonSchema as Record<string, unknown>
  for (const [bound, value] of Object.entries(DEFAULT_BOUNDS))
    if (schema[bound] === value) delete schema[bound]
  // zod leaves the default of what is parsed out of its input's schema.
  const metadata = z.globalRegistry.get(zodSchema)
  if (metadata?.default !== undefined) schema.default = metadata.default
}

const withComponentRefs = (schema: object): Json =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))
