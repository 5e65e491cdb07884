/** The schema of a map of import files. */
import { isSupportedCountry } from 'libphonenumber-js/max'
import * as z from 'zod'
import { isTimezone } from '../../../../shared/domain/timestamp.ts'
import { ENCODINGS } from '../files/encoding.ts'
import { isDateFormat, isTimeFormat } from './format-patterns.ts'

const Name = z.string({ error: 'must be text' }).trim().min(1, { error: 'must not be empty' })
const list = (item: z.ZodType<string>, what: string) =>
  z.array(item, { error: `must be a list of ${what}` }).min(1, { error: `must be a list of ${what}` })

/** One column, or several of which the first that has a value is used. */
const Columns = z
  .union([Name, z.array(Name).min(1)], { error: 'must be the name of a column, or a list of names' })
  .transform((names) => (typeof names === 'string' ? [names] : names))

const PARTS = ['date', 'time', 'first_names', 'last_name'] as const

const Case = z.strictObject({
  column: Columns,
  is: z
    .union([z.string(), z.array(z.string())], { error: 'must be a text, or a list of texts' })
    .transform((texts) => (typeof texts === 'string' ? [texts] : texts))
    .optional(),
  value: z.string({ error: 'must be text' }),
})

/** Where a field comes from: columns, a part of a column, or the first of several cases that is true. */
const Source = z.unknown().transform((value, context): FieldSource => {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const schema = !isObject
    ? Columns.transform((column) => ({ column }))
    : 'cases' in value
      ? z.strictObject({ cases: z.array(Case, { error: 'must be a list of cases' }) })
      : z.strictObject({
          column: Columns,
          part: z.enum(PARTS, { error: `must be one of ${PARTS.join(', ')}` }).optional(),
        })
  const { data, error } = schema.safeParse(value)
  for (const { path, message } of error?.issues ?? [])
    context.addIssue({ code: 'custom', path: [...path], message })
  return (data ?? z.NEVER) as FieldSource
})

type Part = (typeof PARTS)[number]

export type FieldSource =
  | { readonly column: readonly string[]; readonly part?: Part }
  | {
      readonly cases: readonly {
        readonly column: readonly string[]
        readonly is?: readonly string[]
        readonly value: string
      }[]
    }

const formats = {
  dates: list(
    Name.refine(isDateFormat, { error: 'must consist of YYYY, MM or M or MMM, and DD or D' }),
    'formats such as D.M.YYYY',
  ).optional(),
  times: list(
    Name.refine(isTimeFormat, { error: 'must consist of H or h, mm, and optionally ss, a and Z' }),
    'formats such as H:mm',
  ).optional(),
  timezone: z
    .string()
    .refine(isTimezone, { error: 'must be an IANA time zone such as Europe/Berlin' })
    .optional(),
  decimal: z.enum(['comma', 'point'], { error: 'must be "comma" or "point"' }).optional(),
  country: z
    .string()
    .refine(isSupportedCountry, { error: 'must be the code of a country such as DE' })
    .optional(),
}

const EntityMap = z.strictObject({
  columns: z.record(z.string(), Source).default({}),
  ignore: z
    .union([z.literal('others'), z.array(Name)], { error: 'must be "others", or a list of columns' })
    .default([]),
  values: z
    .record(
      z.string(),
      z.record(z.string(), z.union([z.string(), z.null()], { error: 'must be text or null' })),
    )
    .default({}),
  constants: z.record(z.string(), z.union([z.string(), z.boolean(), z.number()])).default({}),
  ...formats,
})

export const ColumnMap = z.strictObject({
  /** The map that this one adds to and overrides: the name of one that ships with the tool, or a path. */
  extends: Name.optional(),
  description: z.string().optional(),
  encoding: z.enum(ENCODINGS, { error: `must be one of ${ENCODINGS.join(', ')}` }).optional(),
  ...formats,
  entities: z.record(z.string(), EntityMap, { error: 'must have a map for each entity' }),
})

export type EntityMap = z.infer<typeof EntityMap>
export type ColumnMap = z.infer<typeof ColumnMap>
