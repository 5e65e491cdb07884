/** The schema of a map of import files. */
import { isSupportedCountry } from 'libphonenumber-js/max'
import * as z from 'zod'
import { quoted, suggestion } from '../../../../shared/domain/closest-name.ts'
import { timeZone } from '../../../../shared/domain/time-zone.ts'
import { encodingName, NO_ENCODING } from '../files/encoding.ts'
import type { Part } from './convert-field.ts'
import { isDateFormat, isTimeFormat } from './format-patterns.ts'

/** An object whose unknown keys are errors that name the one that was probably meant. */
const strict = <Shape extends z.ZodRawShape>(what: string, shape: Shape, error?: string) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return error
      return issue.keys
        .map((key) => `unknown ${what} ${quoted([key])}${suggestion(key, Object.keys(shape))}`)
        .join(', ')
    },
  })

const Name = z.string({ error: 'must be text' }).trim().min(1, { error: 'must not be empty' })
const list = (item: z.ZodType<string>, what: string) =>
  z.array(item, { error: `must be a list of ${what}` }).min(1, { error: `must be a list of ${what}` })

/** One or several, as a list. */
const oneOrMore = (item: z.ZodType<string>, error: string) =>
  z.union([item, z.array(item).min(1)], { error }).transform((given) => [given].flat())

/** One column, or several of which the first that has a value is used. */
const Columns = oneOrMore(Name, 'must be the name of a column, or a list of names')

const PARTS = ['date', 'time', 'first_names', 'last_name'] as const satisfies Part[]

const Case = strict('key', {
  column: Columns.default([]),
  is: oneOrMore(z.string(), 'must be a text, or a list of texts').optional(),
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
const Joined = z.union([Name, strict('key', { column: Name, match: Pattern })], {
  error: 'must be the name of a column, or have a column and a pattern',
})

const SOURCES = {
  cases: strict('key', { cases: z.array(Case, { error: 'must be a list of cases' }) }),
  join: strict('key', { join: z.array(Joined, { error: 'must be a list of columns' }).min(2) }),
  minutes: strict('key', {
    minutes: z.union([z.int().positive(), Columns], { error: 'must be a column or a number of minutes' }),
  }),
  column: strict('key', {
    column: Columns,
    part: z.enum(PARTS, { error: `must be one of ${PARTS.join(', ')}` }).optional(),
    match: Pattern.optional(),
  }),
}

/** The JSON schema of what a schema reads. */
export function schemaOf(schema: z.ZodType): object {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input' })
  return json
}

/** Where a field comes from: columns, a part of a column, columns that are joined, a duration, or the first of several cases that is true. */
const Source = z
  .unknown()
  // What editors complete and check.
  .meta({ id: 'source', anyOf: [Columns, ...Object.values(SOURCES)].map(schemaOf) })
  .transform((value, context): FieldSource => {
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
  encoding: z
    .string()
    .refine((label) => encodingName(label) !== null, { error: NO_ENCODING })
    .optional(),
  dates: list(
    Name.refine(isDateFormat, { error: 'must consist of YYYY or YY, MM or M or MMM, and DD or D' }),
    'formats such as D.M.YYYY',
  ).optional(),
  times: list(
    Name.refine(isTimeFormat, { error: 'must consist of H or h, and optionally mm, ss, a and Z' }),
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

/** The fields of a line item. */
const ITEM_FIELDS = [
  'description',
  'quantity',
  'unit_price',
  'discount_amount',
  'discount_rate',
  'tax_rate',
  'tax_amount',
  'total_amount',
  'doctor_external_id',
  'treatment_external_id',
]

/** The fields that a patient can do without. */
const OPTIONAL = ['phone_number', 'email_address', 'date_of_birth', 'national_id']

/** A value for each of some fields. */
const fieldsOf = <Value extends z.ZodType>(fields: readonly string[], value: Value) =>
  strict(
    'field',
    Object.fromEntries(fields.map((field) => [field, value.optional()])),
  ) as unknown as z.ZodType<Record<string, z.output<Value>>>

const LineItem = fieldsOf(ITEM_FIELDS, Source)

type Entity = { readonly name: string; readonly columns: readonly string[] }

function entityMap({ columns }: Entity) {
  const fields = ['external_id', ...columns]
  const optional = OPTIONAL.filter((field) => fields.includes(field))
  return strict('key', {
    /** What the names of the files begin with, if not the name of the entity. */
    file: Columns.optional(),
    /** Columns of a draft that are neither read nor ignored yet. */
    undecided: z
      .array(Name)
      .max(0, { error: 'must be empty: move each column to "columns", for its field, or to "ignore"' })
      .optional(),
    /** Whether rows with the same external id are one record. */
    group: z.boolean({ error: 'must be true or false' }).optional(),
    /** The columns of the line item of each row: rows with the same external id are one record. A list: of each line item of a row. */
    ...((columns.includes('line_items') && {
      line_items: z
        .union([LineItem, z.array(LineItem).min(1)], {
          error: 'must have the column of each field of a line item, or be a list of such',
        })
        .optional(),
    }) as { line_items: z.ZodOptional<z.ZodType<LineItem | LineItem[]>> }),
    /** Where other texts by which files name the record come from. */
    aliases: z.array(Source, { error: 'must be a list of columns' }).optional(),
    /** Fields whose invalid values are left out, instead of rejecting the row. */
    ...((optional.length > 0 && {
      optional: z
        .array(z.enum(optional, { error: `must be one of ${optional.join(', ')}` }), {
          error: 'must be a list of fields',
        })
        .optional(),
    }) as unknown as { optional: z.ZodOptional<z.ZodArray<z.ZodString>> }),
    columns: fieldsOf(fields, Source).default({}),
    ignore: z
      .union([z.literal('others'), z.array(Name)], { error: 'must be "others", or a list of columns' })
      .default([]),
    values: fieldsOf(
      fields,
      z.record(
        z.string(),
        z.union([z.string(), z.boolean(), z.null()], { error: 'must be text, true, false or null' }),
      ),
    ).default({}),
    constants: fieldsOf(fields, z.union([z.string(), z.boolean(), z.number()])).default({}),
    ...formats,
  })
}

/** @param entities what files can have, with the fields of each */
export const mapSchema = (entities: readonly Entity[]) =>
  strict('key', {
    $schema: z.string().optional(),
    /** The map that this one adds to and overrides: the name of one that ships with the tool, or a path. */
    extends: Name.optional(),
    description: z.string().optional(),
    ...formats,
    entities: strict(
      'entity',
      Object.fromEntries(entities.map((entity) => [entity.name, entityMap(entity).optional()])),
      'must have a map for each entity',
    ),
  }) as unknown as z.ZodType<ColumnMap>

type LineItem = Record<string, FieldSource>
export type EntityMap = z.infer<ReturnType<typeof entityMap>>
export type ColumnMap = z.infer<z.ZodObject<typeof formats>> & {
  readonly extends?: string | undefined
  readonly entities: Readonly<Record<string, EntityMap>>
}

/** Where the fields of each line item of a row come from. */
export const itemSources = ({ line_items: items = [] }: EntityMap): readonly LineItem[] =>
  Array.isArray(items) ? items : [items]

/** All columns that a field can be read from. */
export function columnNames(source: FieldSource): readonly string[] {
  if ('cases' in source) return source.cases.flatMap(({ column }) => column)
  if ('join' in source) return source.join.map((part) => (typeof part === 'string' ? part : part.column))
  if ('minutes' in source) return typeof source.minutes === 'number' ? [] : source.minutes
  return source.column
}
