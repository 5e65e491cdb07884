/** Fields of requests as options: their flags and descriptions, and the values of their texts. */
import { readFileSync } from 'node:fs'
import { parseWeeklyHours, type Window } from '../../../shared/domain/booking/working-hours.ts'
import type { Schema } from '../../../shared/openapi/read-document.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { CommandFailure } from '../tool/output.ts'

type Shape = Schema & { readonly propertyNames?: Schema }

/** The alternatives of a schema. */
const shapesOf = (schema: Schema): Shape[] => (schema.anyOf ?? schema.oneOf)?.flatMap(shapesOf) ?? [schema]

const typesOf = (schema: Schema): string[] => shapesOf(schema).flatMap(({ type = [] }) => type)

/** Schemas whose values can be written in the short text of import files: what they have, how it is read, and an example. */
const SHORT_TEXTS = [
  {
    describes: ({ properties }: Shape) => properties?.mon !== undefined,
    parse: parseWeeklyHours,
    example: 'mon-fri 09:00-12:30,13:30-18:00',
  },
  {
    describes: ({ propertyNames }: Shape) => propertyNames?.format === 'date',
    // Loads much that other values do not need.
    parse: async (text: string) =>
      (await import('../../../shared/domain/booking/doctor-days.ts')).parseExceptions(text),
    example: '2026-12-24 09:00-12:00; 2026-12-27 off',
  },
]

const shortTextOf = (schema: Schema) => SHORT_TEXTS.find(({ describes }) => shapesOf(schema).some(describes))

const isStructured = (schema: Schema): boolean =>
  typesOf(schema).some((type) => /^(object|array)$/.test(type))

/** Whether a list can be written with commas. */
const isPlainList = (schema: Schema): boolean =>
  shapesOf(schema).some(({ type, items = {} }) => type === 'array' && !isStructured(items))

export const optionName = (field: string): string => field.replaceAll('_', '-')

/** `--is-active <boolean>` */
export function flagsOf(field: string, schema: Schema): string {
  const type = typesOf(schema).find((one) => one !== 'null') ?? 'string'
  const { format = type === 'string' ? 'text' : type } = shapesOf(schema).find((shape) => shape.format) ?? {}
  const kind = isPlainList(schema) ? 'list' : isStructured(schema) ? 'json' : format
  return `--${optionName(field)} <${kind}>`
}

/** What the document says about a field, with its values. */
export function describeField(schema: Schema, isRequired = false): string {
  const values = shapesOf(schema).flatMap(({ enum: list = [] }) => list)
  const short = shortTextOf(schema)
  return [
    isRequired && 'required',
    schema.description?.replace(/^A malformed id .* `(\w+)_not_found`/, 'id of the $1').replace(/\.$/, ''),
    values.length > 0 && `one of ${values.join(', ')}`,
    short && `e.g. "${short.example}"`,
    isPlainList(schema) ? 'separated by commas' : isStructured(schema) && 'JSON or @file',
    typesOf(schema).includes('null') && '"" for none',
  ]
    .filter(Boolean)
    .join('; ')
}

/**
 * The value of an option's text. What is no value of the schema stays a text, which the API rejects with the name of the field.
 * @throws CommandFailure naming the option
 */
export async function parseField(field: string, schema: Schema, text: string): Promise<unknown> {
  const types = typesOf(schema)
  if (text === '' && types.includes('null')) return null
  if (isStructured(schema)) return structured(field, schema, text)
  if (types.includes('string')) return text
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

async function structured(field: string, schema: Schema, given: string): Promise<unknown> {
  try {
    const text = textOf(given).trim()
    if (/^[[{]/.test(text)) return JSON.parse(text)
    const short = shortTextOf(schema)
    if (short) return JSON.parse(JSON.stringify(await short.parse(text)), renderWindow)
    if (isPlainList(schema)) return text === '' ? [] : text.split(',').map((one) => one.trim())
    return JSON.parse(text)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const issue = error instanceof SyntaxError ? 'is not JSON' : code ? `cannot be read: ${code}` : message
    throw new CommandFailure(`--${optionName(field)} ${issue}`)
  }
}

/** The text itself, or of the file that `@file` names. */
const textOf = (given: string): string =>
  given.startsWith('@') ? readFileSync(resolveFromInvocationDir(given.slice(1)), 'utf8') : given

/** A window as the API has it. */
const renderWindow = (_: string, value: Window | null): unknown =>
  value && typeof value === 'object' && 'start' in value
    ? { start_time: value.start, end_time: value.end }
    : value
