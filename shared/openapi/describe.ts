import { DERIVED, FIELDS, OPERATIONS, PARAMETERS, SCHEMAS } from './descriptions.ts'

/** What the formats of dates and timestamps in schemas mean. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '`YYYY-MM-DD`.',
  'date-time': "ISO 8601, with the UTC offset of the clinic's time zone.",
}

type Json = { readonly [name: string]: unknown }

/** The parts of a schema that are schemas. */
type Nested = {
  readonly properties?: Readonly<Record<string, Json>>
  readonly items?: Json
  readonly anyOf?: readonly Json[]
  readonly oneOf?: readonly Json[]
}

type Descriptions = Readonly<Record<string, string>>
type Table = readonly [name: string, descriptions: Descriptions]

/** Adds the descriptions of fields and of query parameters, and collects what does not fit. */
export function describer() {
  const used = new Set<string>()
  const missing: string[] = []

  /** The first description that one of the tables has under the key beside it. */
  function find(at: string, places: readonly (readonly [Table, key: string])[]): string {
    for (const [[name, descriptions], key] of places) {
      const description = descriptions[key]
      if (description === undefined) continue
      used.add(`${name}.${key}`)
      return description
    }
    missing.push(at)
    return ''
  }

  /** A schema whose fields are described. `path` leads to it from the schema or the response with this name. */
  function schema(name: string, of: Json, path = ''): Json {
    const { properties, items, anyOf, oneOf } = of as Nested
    const each = (alternatives: readonly Json[]) => alternatives.map((one) => schema(name, one, path))
    return {
      ...of,
      ...(items && { items: schema(name, items, path) }),
      ...(anyOf && { anyOf: each(anyOf) }),
      ...(oneOf && { oneOf: each(oneOf) }),
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([field, property]) => {
            const at = `${path}${field}`
            return [field, { ...schema(name, property, `${at}.`), description: ofField(name, at, property) }]
          }),
        ),
      }),
    }
  }

  function ofField(name: string, at: string, property: Json): string {
    const field = at.slice(at.lastIndexOf('.') + 1)
    const common = ['FIELDS', FIELDS] as const
    const found = find(`${name}.${at}`, [
      ...tablesOf(name).map((table) => [table, at] as const),
      ...(property.type === 'array' ? [[common, `${field}[]`] as const] : []),
      [common, field],
    ])
    const formats = [property, ...((property as Nested).anyOf ?? [])].map(({ format }) => format)
    return [found, ...formats.flatMap((format) => FORMATS[String(format)] ?? [])].join(' ')
  }

  const parameter = (operation: string, name: string): string =>
    find(`${operation} ${name}`, [
      [[operation, OPERATIONS[operation] ?? {}], name],
      [['PARAMETERS', PARAMETERS], name],
    ])

  /** @throws Error naming what lacks a description, and the descriptions that nothing has */
  function check(): void {
    const tables: Table[] = [
      ['FIELDS', FIELDS],
      ['PARAMETERS', PARAMETERS],
      ...Object.entries(SCHEMAS),
      ...Object.entries(OPERATIONS),
    ]
    const known = tables.flatMap(([name, keys]) => Object.keys(keys).map((key) => `${name}.${key}`))
    const unused = known.filter((one) => !used.has(one))
    if (missing.length + unused.length === 0) return
    throw new Error(
      `shared/openapi/descriptions.ts lacks [${missing.join(', ')}], and has without a use [${unused.join(', ')}].`,
    )
  }

  return { schema, parameter, check }
}

/** `RoomChanges` and `RoomReference` have the fields of `Room`, and their descriptions. */
const DERIVED_NAME =
  /^(?:Expandable)?(.+?)(?:Changes|Create|Details|Reference|WithAliases|WithPayments|WithSecret)?$/

/** The tables for a schema, the most specific one first. */
function tablesOf(name: string): Table[] {
  const base = DERIVED[name] ?? /^.+(Event)$/.exec(name)?.[1] ?? DERIVED_NAME.exec(name)?.[1]
  return [[name, SCHEMAS[name] ?? {}], ...(base === undefined || base === name ? [] : tablesOf(base))]
}
