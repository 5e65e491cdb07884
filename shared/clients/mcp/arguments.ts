import type { Schema } from '../../openapi/read-document.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Arguments as they are meant: numbers, booleans and lists can be written as text, and optional fields can be empty. The API checks
 * them, and rejects what is unknown.
 */
export const meantArguments = ({ properties = {}, required = [] }: Schema, given: Fields): Fields =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      const schema = properties[name]
      if (!schema) return [[name, value]]
      const isNullable = typesOf(schema).includes('null')
      const read = value === '' && isNullable ? null : meant(schema, value)
      const isAbsent = read === '' || (read === null && !isNullable)
      return isAbsent && !required.includes(name) ? [] : [[name, read]]
    }),
  )

const typesOf = ({ type = [] }: Schema): readonly string[] => [type].flat()

function meant(schema: Schema, value: unknown): unknown {
  const types = typesOf(schema)
  if (typeof value === 'string') return types.includes('string') ? value : parsed(schema, value.trim())
  if (typeof value === 'number' && types.includes('string')) return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => meant(schema.items ?? {}, one))
  return meantArguments(schema, value as Fields)
}

/** The value of another type that is written as text; the text itself if it is none. */
function parsed(schema: Schema, text: string): unknown {
  const types = typesOf(schema)
  try {
    if (/^[[{]|^(true|false|-?\d+(\.\d+)?)$/.test(text)) return meant(schema, JSON.parse(text))
  } catch {
    return text
  }
  return types.includes('array') && text !== '' ? text.split(',').map((one) => one.trim()) : text
}
