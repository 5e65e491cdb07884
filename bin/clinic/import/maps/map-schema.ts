/** The schema of a map of import files. */
import { isSupportedCountry } from 'libphonenumber-js/max'
import * as z from 'zod'
import { timeZone } from '../../../../shared/domain/time-zone.ts'
import { ENCODINGS } from '../files/encoding.ts'
import type { Part } from './convert-field.ts'
import { isDateFormat, isTimeFormat } from './format-patterns.ts'

const Name = z.string({ error: 'must be text' }).trim().min(1, { error: 'must not be empty' })
const list = (item: z.ZodType<string>, what: string) =>
  z.array(item, { error: `must be a list of ${what}` }).min(1, { error: `must be a list of ${what}` })

/** One column, or several of which the first that has a value is used. */
const Columns = z
  .union([Name, z.array(Name).min(1)], { error: 'must be the name of a column, or a list of names' })
  .transform((names) => (typeof names === 'string' ? [names] : names))

const PARTS = ['date', 'time', 'first_names', 'last_name'] as const satisfies Part[]

const texts = z
  .union([z.string(), z.array(z.string())], { error: 'must be a text, or a list of texts' })
  .transform((given) => (typeof given === 'string' ? [given] : given))

const Case = z.strictObject({
  column: Columns.default([]),
  is: texts.optional(),
  value: z.string({ error: 'must be text' }),
})

const Pattern = z.string({ error: 'must be text' }).transform((text, context) => {
  try {
    return new RegExp(text, 'iu')
  } catch {
    context.addIssue({ code: 'custom', message: 'must be a regular expression' })
    return z.NEVER
  }
})

/** A column, or what a pattern finds in it. */
const Joined = z.union([Name, z.strictObject({ column: Name, match: Pattern })], {
  error: 'must be the name of a column, or have a column and a pattern',
})

const SOURCES = {
  cases: z.strictObject({ cases: z.array(Case, { error: 'must be a list of cases' }) }),
  join: z.strictObject({ join: z.array(Joined, { error: 'must be a list of columns' }).min(2) }),
  minutes: z.strictObject({
    minutes: z.union([z.int().positive(), Columns], { error: 'must be a column or a number of minutes' }),
  }),
  column: z.strictObject({
    column: Columns,
    part: z.enum(PARTS, { error: `must be one of ${PARTS.join(', ')}` }).optional(),
    match: Pattern.optional(),
  }),
}

/** Where a field comes from: columns, a part of a column, columns that are joined, a duration, or the first of several cases that is true. */
const Source = z.unknown().transform((value, context): FieldSource => {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const kind = isObject ? (['cases', 'join', 'minutes'] as const).find((name) => name in value) : undefined
  const schema = isObject ? SOURCES[kind ?? 'column'] : Columns.transform((column) => ({ column }))
  const { data, error } = schema.safeParse(value)
  for (const { path, message } of error?.issues ?? [])
    context.addIssue({ code: 'custom', path: [...path], message })
  return (data ?? z.NEVER) as FieldSource
})

export type FieldSource =
  | { readonly column: readonly string[]; readonly part?: Part; readonly match?: RegExp }
  | { readonly join: readonly (string | { readonly column: string; readonly match: RegExp })[] }
  | { readonly minutes: number | readonly string[] }
  | {
      readonly cases: readonly {
        readonly column: readonly string[]
        readonly is?: readonly string[]
        readonly value: string
      }[]
    }

const formats = {
  encoding: z.enum(ENCODINGS, { error: `must be one of ${ENCODINGS.join(', ')}` }).optional(),
  dates: list(
    Name.refine(isDateFormat, { error: 'must consist of YYYY or YY, MM or M or MMM, and DD or D' }),
    'formats such as D.M.YYYY',
  ).optional(),
  times: list(
    Name.refine(isTimeFormat, { error: 'must consist of H or h, mm, and optionally ss, a and Z' }),
    'formats such as H:mm',
  ).optional(),
  timezone: timeZone().optional(),
  decimal: z.enum(['comma', 'point'], { error: 'must be "comma" or "point"' }).optional(),
  country: z
    .string()
    .refine(isSupportedCountry, { error: 'must be the code of a country such as DE' })
    .optional(),
  /** The language of names of months. */
  language: z.string().refine(isLanguage, { error: 'must be the tag of a language such as pl' }).optional(),
  /** Texts that count as empty cells. */
  empty: z.array(z.string(), { error: 'must be a list of texts' }).optional(),
  /** What is left out before the names of patients. */
  titles: z.array(Name, { error: 'must be a list of titles such as Dr.' }).optional(),
}

function isLanguage(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0
  } catch {
    return false
  }
}

const LineItem = z.record(z.string(), Source)

const EntityMap = z.strictObject({
  /** What the names of the files begin with, if not the name of the entity. */
  file: Columns.optional(),
  /** Whether rows with the same external id are one record. */
  group: z.boolean({ error: 'must be true or false' }).optional(),
  /** The columns of the line item of each row: rows with the same external id are one record. A list: of each line item of a row. */
  line_items: z
    .union([LineItem, z.array(LineItem).min(1)], {
      error: 'must have the column of each field of a line item, or be a list of such',
    })
    .optional(),
  /** Where other texts by which files name the record come from. */
  aliases: z.array(Source, { error: 'must be a list of columns' }).optional(),
  /** Fields whose invalid values are left out, instead of rejecting the row. */
  optional: z.array(z.string(), { error: 'must be a list of fields' }).optional(),
  columns: z.record(z.string(), Source).default({}),
  ignore: z
    .union([z.literal('others'), z.array(Name)], { error: 'must be "others", or a list of columns' })
    .default([]),
  values: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.union([z.string(), z.boolean(), z.null()], { error: 'must be text, true, false or null' }),
      ),
    )
    .default({}),
  constants: z.record(z.string(), z.union([z.string(), z.boolean(), z.number()])).default({}),
  ...formats,
})

export const ColumnMap = z.strictObject({
  /** The map that this one adds to and overrides: the name of one that ships with the tool, or a path. */
  extends: Name.optional(),
  description: z.string().optional(),
  ...formats,
  entities: z.record(z.string(), EntityMap, { error: 'must have a map for each entity' }),
})

export type EntityMap = z.infer<typeof EntityMap>
export type ColumnMap = z.infer<typeof ColumnMap>

/** Where the fields of each line item of a row come from. */
export const itemSources = ({ line_items: items = [] }: EntityMap): readonly Record<string, FieldSource>[] =>
  Array.isArray(items) ? items : [items]
