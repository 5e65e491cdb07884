import { type ApiDocument, type Parameter, resolve, type Schema } from '../api/openapi/read-document.ts'

/** The fields of an object, and of the objects within it, as a nested Markdown list. Levels below `openLevels` are folded. */
export function fieldList(document: ApiDocument, schema: Schema, openLevels = 2): string[] {
  const { properties = {}, required = [] } = objectOf(document, schema) ?? {}
  return Object.entries(properties).flatMap(([name, field]) => {
    const nested = fieldList(document, field, openLevels - 1)
    return [
      fieldLine(document, name, field, required.includes(name)),
      ...(nested.length > 0 && openLevels <= 1
        ? [
            '',
            `  <details><summary>Fields of ${name}</summary>`,
            '',
            ...indent(nested),
            '',
            '  </details>',
            '',
          ]
        : indent(nested)),
    ]
  })
}

/** The parameters of one place, as a Markdown list. */
export const parameterList = (document: ApiDocument, parameters: readonly Parameter[]): string[] =>
  parameters.map(({ name, schema, required = false, description }) =>
    fieldLine(document, name, { ...schema, ...(description !== undefined && { description }) }, required),
  )

/** The headers that many endpoints accept, in a sentence each. A guide explains them. */
export const headerList = (document: ApiDocument, headers: readonly Parameter[]): string[] =>
  parameterList(
    document,
    headers.map((header) => ({
      ...header,
      description: /^.*?\.(?= |$)/.exec(header.description ?? '')?.[0] ?? '',
    })),
  )

/** The names of all fields, for the search. */
export const fieldNames = (document: ApiDocument, schema: Schema): string[] =>
  Object.entries(objectOf(document, schema)?.properties ?? {}).flatMap(([name, field]) => [
    name,
    ...fieldNames(document, field),
  ])

/** The object that a schema describes: itself, the items of an array, or the first object of its alternatives. */
function objectOf(document: ApiDocument, schema: Schema): Schema | undefined {
  const { properties, items, anyOf, oneOf } = resolve(document, schema)
  if (properties) return resolve(document, schema)
  if (items) return objectOf(document, items)
  for (const alternative of anyOf ?? oneOf ?? []) {
    const found = objectOf(document, alternative)
    if (found) return found
  }
  return undefined
}

function fieldLine(document: ApiDocument, name: string, schema: Schema, isRequired: boolean): string {
  const notes = [typeOf(document, schema), ...(isRequired ? ['required'] : []), ...limitsOf(document, schema)]
  const description = descriptionOf(document, schema).replace(/\s*\n\s*/g, ' ')
  return `- \`${name}\` *${notes.join(', ')}* ${description}`.trimEnd()
}

const indent = (lines: readonly string[]): string[] => lines.map((line) => (line === '' ? line : `  ${line}`))

const alternativesOf = ({ anyOf, oneOf }: Schema): readonly Schema[] => anyOf ?? oneOf ?? []

/** A description that says nothing of its own is on the alternative that is not null. */
function descriptionOf(document: ApiDocument, schema: Schema): string {
  const resolved = resolve(document, schema)
  return (
    schema.description ??
    resolved.description ??
    alternativesOf(resolved)
      .map((one) => descriptionOf(document, one))
      .find(Boolean) ??
    ''
  )
}

/** A type as one says it, such as `date or null` or `array of objects`. */
function typeOf(document: ApiDocument, schema: Schema): string {
  const { type, format, items, enum: values, const: value, ...rest } = resolve(document, schema)
  if (value !== undefined) return `\`${value}\``
  if (values) return values.map((one) => `\`${one}\``).join(' or ')
  const names = [
    ...[type ?? []].flat().map((one) => {
      if (one === 'array' && items) return `array of ${plural(typeOf(document, items))}`
      return one === 'string' && format !== undefined ? format : one
    }),
    ...alternativesOf(rest).map((one) => typeOf(document, one)),
  ]
  return [...new Set(names)].join(' or ') || 'any value'
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
