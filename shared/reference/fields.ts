import { type ApiDocument, type Parameter, resolve, type Schema } from '../openapi/read-document.ts'

/** An object that a schema describes. There are several if the schema has alternatives. */
type Variant = Required<Pick<Schema, 'properties' | 'required' | 'description'>> & {
  /** Its name in the API document. */
  readonly name: string
}

type Listing = {
  /** Levels below are folded. */
  readonly openLevels?: number
  /** Of what the API sends: most fields are always there, so the others say that they are optional. */
  readonly isReturned?: boolean
}

/**
 * The fields of an object, and of the objects within it, as a nested Markdown list. If there are variants of the object, what differs
 * between them is folded.
 */
export function fieldList(document: ApiDocument, schema: Schema, listing: Listing = {}): string[] {
  const [first, ...others] = variantsOf(document, schema)
  if (!first) return []
  const tag = tagOf([first, ...others])
  if (tag !== undefined) return taggedFields(document, [first, ...others], tag, listing)
  return [
    ...fieldsOf(document, first, listing),
    ...others.flatMap((variant) => {
      const description = variant.description === '' ? [] : [variant.description, '']
      const fields = fieldsOf(document, variant, { ...listing, openLevels: 2 })
      return folded(`Or the fields of ${variant.name}`, [...description, ...fields])
    }),
  ]
}

/** Lines that are hidden until the reader opens them. */
export const folded = (title: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? ['', `<details><summary>${title}</summary>`, '', ...lines, '', '</details>', ''] : []

function fieldsOf(document: ApiDocument, { properties, required }: Variant, listing: Listing): string[] {
  const { openLevels = 2, isReturned = false } = listing
  return Object.entries(properties).flatMap(([name, field]) => {
    const nested = fieldList(document, field, { ...listing, openLevels: openLevels - 1 })
    // Variants with a tag fold most of their fields themselves.
    const isOpen = openLevels > 1 || tagOf(variantsOf(document, field)) !== undefined
    return [
      fieldLine(document, name, field, required.includes(name), isReturned),
      ...indent(isOpen ? nested : folded(`Fields of ${name}`, nested)),
    ]
  })
}

/** The field whose value says which variant an object is, such as `channel` or `event`. */
function tagOf(variants: readonly Variant[]): string | undefined {
  if (variants.length < 2) return undefined
  return Object.keys(variants[0]?.properties ?? {}).find((name) => {
    const values = variants.map(({ properties }) => properties[name]?.const)
    return !values.includes(undefined) && new Set(values).size === values.length
  })
}

/** The tag and the fields that are the same in all variants, then the other fields for each value of the tag, folded. */
function taggedFields(
  document: ApiDocument,
  variants: readonly [Variant, ...Variant[]],
  tag: string,
  listing: Listing,
): string[] {
  const [first] = variants
  const areSame = (of: (variant: Variant) => unknown) =>
    new Set(variants.map((variant) => JSON.stringify(of(variant)))).size === 1
  const isShared = (name: string) =>
    areSame(({ properties, required }) => [properties[name], required.includes(name)])
  const listed = (
    variant: Variant,
    isWanted: (name: string) => boolean,
    { openLevels = 2 }: Listing = {},
  ) => {
    const properties = Object.entries(variant.properties).filter(([name]) => isWanted(name))
    const shown = { ...variant, properties: Object.fromEntries(properties) }
    return fieldsOf(document, shown, { ...listing, openLevels })
  }
  const valueIn = ({ properties }: Variant) => properties[tag]?.const
  const isDescribed = areSame(({ properties }) => properties[tag]?.description)
  const description = (isDescribed && first.properties[tag]?.description) || ''
  const tagField = { enum: variants.map(valueIn), description }
  const shared = { ...first, properties: { ...first.properties, [tag]: tagField } }
  const byOtherFields = Map.groupBy(variants, (variant) =>
    listed(variant, (name) => name !== tag && !isShared(name)).join('\n'),
  )
  return [
    ...listed(shared, (name) => name === tag || isShared(name), listing),
    ...[...byOtherFields].flatMap(([lines, members]) =>
      folded(`Fields if ${tag} is ${members.map(valueIn).join(' or ')}`, lines ? lines.split('\n') : []),
    ),
  ]
}

/** The parameters of one place, as a Markdown list. A guide explains headers, which have a sentence each. */
export const parameterList = (document: ApiDocument, parameters: readonly Parameter[]): string[] =>
  parameters.map(({ name, in: place, schema, required = false, description }) => {
    const text = place === 'header' ? /^.*?\.(?= |$)/.exec(description ?? '')?.[0] : description
    return fieldLine(
      document,
      name,
      { ...schema, ...(text !== undefined && { description: text }) },
      required,
    )
  })

/** The names of all fields, for the search. Further variants have the fields of other pages, which are found first. */
export const fieldNames = (document: ApiDocument, schema: Schema): string[] =>
  Object.entries(variantsOf(document, schema)[0]?.properties ?? {}).flatMap(([name, field]) => [
    name,
    ...fieldNames(document, field),
  ])

/** The values of an enum, or of a filter that takes several of them, which the document has as a pattern. */
const choicesOf = ({ enum: values, pattern = '' }: Schema): readonly unknown[] | undefined =>
  values ?? /^\^\(([\w|]+)\)\(,/.exec(pattern)?.[1]?.split('|')

/** The objects that a schema describes: itself, the items of an array, or its alternatives that are not deprecated. */
function variantsOf(document: ApiDocument, schema: Schema): Variant[] {
  const resolved = resolve(document, schema)
  const { properties, required = [], description = '', items } = resolved
  if (properties) return [{ name: schema.$ref?.split('/').at(-1) ?? '', properties, required, description }]
  if (items) return variantsOf(document, items)
  return alternativesOf(resolved)
    .filter((one) => !resolve(document, one).deprecated)
    .flatMap((one) => variantsOf(document, one))
}

function fieldLine(
  document: ApiDocument,
  name: string,
  schema: Schema,
  isRequired: boolean,
  isReturned = false,
): string {
  const isOptional = isReturned && !isRequired
  const notes = [typeOf(document, schema), ...limitsOf(document, schema), ...(isOptional ? ['optional'] : [])]
  const description = descriptionOf(document, schema).replace(/\s*\n\s*/g, ' ')
  const required = isRequired && !isReturned ? ' **required**' : ''
  return `- \`${name}\` *${notes.join(', ')}*${required} ${description}`.trimEnd()
}

const indent = (lines: readonly string[]): string[] => lines.map((line) => (line === '' ? line : `  ${line}`))

const alternativesOf = ({ anyOf, oneOf }: Schema): readonly Schema[] => anyOf ?? oneOf ?? []

/** A description that says nothing of its own is on the alternative that is not null. */
function descriptionOf(document: ApiDocument, schema: Schema): string {
  const resolved = resolve(document, schema)
  const others = alternativesOf(resolved).map((one) => descriptionOf(document, one))
  return schema.description ?? resolved.description ?? others.find(Boolean) ?? ''
}

/** A type as one says it, such as `date or null` or `array of objects`. */
function typeOf(document: ApiDocument, schema: Schema): string {
  const { type, format, items, const: value, ...rest } = resolve(document, schema)
  if (value !== undefined) return `\`${value}\``
  const values = choicesOf(rest)
  if (values) return values.map((one) => `\`${one}\``).join(' or ')
  const own = [type ?? []].flat().map((one) => {
    if (one === 'array' && items) return `array of ${plural(typeOf(document, items))}`
    return one === 'string' && format !== undefined ? format : one
  })
  const others = alternativesOf(rest).map((one) => typeOf(document, one))
  return [...new Set([...own, ...others])].join(' or ') || 'any value'
}

const plural = (type: string): string => (/^[a-z-]+$/.test(type) ? `${type}s` : type)

function limitsOf(document: ApiDocument, schema: Schema): string[] {
  const resolved = resolve(document, schema)
  const { minimum, maximum, maxLength, maxItems, default: preset } = resolved
  const own = [
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum.toLocaleString('en')}`,
    maxLength !== undefined && `at most ${maxLength.toLocaleString('en')} characters`,
    maxItems !== undefined && `at most ${maxItems}`,
    preset !== undefined && `default \`${preset}\``,
  ].filter((limit) => limit !== false)
  return [
    ...own,
    ...alternativesOf(resolved).flatMap((one) =>
      resolve(document, one).properties ? [] : limitsOf(document, one),
    ),
  ]
}
