import type * as z from 'zod'
import type { Json, SchemaCollector } from './schemas.ts'

/** The schema of a request body; with field aliases, the same schema under their names as a deprecated alternative. */
export function bodySchema(
  body: z.ZodObject,
  aliases: Readonly<Record<string, string>> | undefined,
  schemas: SchemaCollector,
): Json {
  const schema = schemas.schemaOf(body, 'input')
  if (!aliases) return schema
  const name = String(schema.$ref).replace('#/components/schemas/', '')
  const aliased = schemas.add(`${name}WithAliases`, withAliases(schemas.all()[name] as Json, aliases))
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
