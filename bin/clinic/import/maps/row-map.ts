/** Reads the fields of an entity from the columns of a file, by a map or by their own names. */

import { isDeepStrictEqual } from 'node:util'
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { wallClock } from '../../../../shared/domain/clock.ts'
import { foldName } from '../../../../shared/domain/closest-name.ts'
import { definedFields } from '../../../../shared/sync/entities/entity.ts'
import { ownIdColumn } from '../../../../shared/sync/external-ids/resolve-references.ts'
import { isReason } from '../files/rejections.ts'
import { type ConversionFormats, type Converted, convertField, endTime } from './convert-field.ts'
import { escaped } from './format-patterns.ts'
import { type ColumnMap, columnNames, type EntityMap, type FieldSource, itemSources } from './map-schema.ts'

type Fields = { readonly [field: string]: unknown }

/** The values of a row by the names of the file. */
type Values = { readonly [name: string]: unknown }

/** The fields of a row, and what is wrong with values that the map cannot convert. */
export type MappedRow = {
  readonly fields: Fields
  readonly problems: ReadonlyMap<string, string>
  /** How cells were read that a reader of the file would take for something else, such as `as empty`: each with its folded column. */
  readonly notes: readonly (readonly [column: string, note: string])[]
}

export type RowMap = ReturnType<typeof rowMap>

/** The note on a cell that the map takes for an empty one. */
export const AS_EMPTY = 'as empty'

const EMPTY_MAP: EntityMap = { columns: {}, ignore: [], values: {}, constants: {} }

/** How many years the dates of appointments and invoices are ahead, if their year has two digits. */
const YEARS_AHEAD = 20

/** @param clinic Its time zone is that of times without an offset, unless the map has one, and its currency that of rows without one. */
export function rowMap(
  fields: readonly string[],
  entityName: string,
  map: ColumnMap | undefined,
  clinic: Pick<ClinicInfo, 'timezone' | 'currency'>,
  now: number = Date.now(),
) {
  const entity = map?.entities[entityName] ?? EMPTY_MAP
  const formats = map && formatsOf({ ...map, ...definedFields(entity) }, clinic, now)
  const mapped = [entity.columns, ...itemSources(entity)].flatMap((from) => Object.values(from))
  // The id of another system may be in a column that is named as ids of records are here.
  const ownIds = Object.keys(entity.columns).map(ownIdColumn)
  const elsewhere = new Set([...mapped.flatMap(columnNames), ...ownIds].map(foldName))
  const ignored = entity.ignore === 'others' ? null : new Set(entity.ignore.map(foldName))
  const sources = new Map<string, FieldSource>(
    fields
      .filter((field) => !(field in entity.constants))
      .filter(
        (field) =>
          field in entity.columns ||
          (ignored !== null && !ignored.has(foldName(field)) && !elsewhere.has(foldName(field))),
      )
      .map((field) => [field, entity.columns[field] ?? { column: [field] }]),
  )
  const items = itemSources(entity).map((one) => new Map(Object.entries(one)))
  // In a list, each row has all line items of its record.
  const { aliases } = entity
  const isItemized = items.length > 0 && !Array.isArray(entity.line_items)
  const constants = Object.fromEntries(
    fields.flatMap((field) => (field in entity.constants ? [[field, entity.constants[field]]] : [])),
  )
  const readers = new Map<string, Set<string>>()
  for (const [field, source] of [
    ...sources,
    ...items.flatMap((from) => [...from].map(([field, source]) => [`line_items.${field}`, source] as const)),
    ...(aliases ?? []).map((source) => ['aliases', source] as const),
  ])
    for (const column of columnNames(source).map(foldName))
      readers.set(column, (readers.get(column) ?? new Set()).add(field))
  const empty = new Set((entity.empty ?? map?.empty ?? []).map(foldName))
  const translations = new Map(
    Object.entries(entity.values).map(([field, values]) => [
      field,
      new Map(Object.entries(values).map(([from, to]) => [foldName(from), to])),
    ]),
  )
  function fold(values: Values): Row {
    const row = new Row()
    for (const [name, value] of Object.entries(values)) {
      const isEmpty = empty.size > 0 && typeof value === 'string' && empty.has(foldName(value))
      row.set(foldName(name), isEmpty ? null : value)
      if (isEmpty) row.note(name, AS_EMPTY)
    }
    return row
  }

  function readFields(row: Row, from: ReadonlyMap<string, FieldSource>, currency = clinic.currency) {
    const result: { [field: string]: unknown } = {}
    const problems = new Map<string, string>()
    const ofRow = formats && { ...formats, currency }
    let stated: string | undefined
    for (const [field, source] of from) {
      const found = fieldValue(field, source, row, result, ofRow)
      if (found === undefined) continue
      if ('problem' in found) problems.set(field, found.problem)
      else {
        result[field] = found.value
        stated ??= found.currency
      }
    }
    return { fields: result, problems, stated }
  }

  /** The value of a field: the first, or of phone numbers the first that can be read. Undefined if the file has none of its columns. */
  function fieldValue(
    field: string,
    source: FieldSource,
    row: Row,
    before: Fields,
    ofRow = formats,
  ): Converted | undefined {
    const given = valuesOf(source, row)
    if ('minutes' in source) return given.length === 0 ? undefined : endTime(before.start_time, given[0])
    let first: Converted | undefined
    for (const value of given) {
      const column = columnNames(source).find((name) => row.get(foldName(name)) === value) ?? ''
      const translated = translation(translations.get(field), matched(source, value, row, column))
      const part = 'part' in source ? source.part : undefined
      const found = convertField(field, translated, part, ofRow, row)
      if ('dateFormat' in found && found.dateFormat) row.note(column, `as ${found.dateFormat}`)
      if (field !== 'phone_number' || ('value' in found && found.value !== null)) return found
      first ??= found
    }
    return first
  }

  const ofCurrency = new Map([...sources].filter(([field]) => field === 'currency'))

  /** The currency of a record: a constant, what the first of its rows has, or the clinic's. */
  function currencyOf(rows: readonly Row[]): string {
    const [stated] = rows.flatMap((row) => readFields(row, ofCurrency).fields.currency ?? [])
    return String(constants.currency ?? stated ?? clinic.currency)
  }

  function readRecord(rows: readonly Row[]): Omit<MappedRow, 'notes'> {
    const currency = currencyOf(rows)
    const each = rows.map((row) => readFields(row, sources, currency))
    const [first = { fields: {}, problems: new Map() }, ...others] = each
    const problems = new Map(each.flatMap((one) => [...one.problems]))
    const merged = { ...first.fields }
    for (const { fields: more } of others)
      for (const [field, value] of Object.entries(more)) {
        merged[field] ??= value
        if (value !== null && !isDeepStrictEqual(value, merged[field]))
          problems.set(field, 'differs between the rows of the record')
      }
    const read = rows.flatMap((row) =>
      items.filter((from) => isFilled(from, row)).map((from) => readFields(row, from, currency)),
    )
    for (const item of read)
      for (const [field, problem] of item.problems) problems.set(`line_items.${field}`, problem)
    // Without a currency, the row would be in that of the stored record, or of the invoice.
    const unit = [...each, ...read].find(({ stated }) => stated !== undefined)?.stated
    if (unit !== undefined && fields.includes('currency')) merged.currency ??= unit
    if (items.length === 0) return { fields: merged, problems }
    const filled = read.map(({ fields: item }) =>
      Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null)),
    )
    return { fields: { ...merged, line_items: filled }, problems }
  }

  const ids = new Map([...sources].filter(([field]) => field === 'external_id' || field === 'id'))
  return {
    /** Names of columns that are read for a field; null if it needs none. */
    columnsOf: (field: string): readonly string[] | null => {
      const source = sources.get(field)
      const names = source ? columnNames(source) : []
      return names.length === 0 && (source || field in constants) ? null : names
    },
    /** Whether a field is read from a column, by its folded name. */
    isRead: (column: string) => readers.has(column),
    /** The fields that are read from a column. */
    fieldsOf: (column: string) => [...(readers.get(foldName(column)) ?? [])],
    /** Names of a file that no field is read from, except ignored names and the column with the reason of an earlier rejection. */
    unknownNames: (names: readonly string[]) =>
      names.filter((name) => {
        const folded = foldName(name)
        return !(readers.has(folded) || isReason(folded) || ignored === null || ignored.has(folded))
      }),
    /** Names that are read, each with an earlier one that is the same in another spelling. */
    repeatedNames: (names: readonly string[]) => {
      const first = new Map<string, string>()
      return names.flatMap((name) => {
        const folded = foldName(name)
        const earlier = first.get(folded)
        if (earlier === undefined) first.set(folded, name)
        return earlier === undefined || !readers.has(folded) ? [] : [{ name, earlier }]
      })
    },
    /** The id of a row, if rows with the same are one record. */
    recordOf:
      sources.has('external_id') && (entity.group || isItemized)
        ? (values: Values): unknown => {
            const { external_id, id } = readFields(fold(values), ids).fields
            return external_id ?? id
          }
        : null,
    /** Whether each row of a record is a line item. */
    isItemized,
    /** Other texts by which files name the record of a row; null if the map has none. */
    aliasesOf: aliases
      ? (values: Values) => {
          const row = fold(values)
          return aliases.flatMap((source) => textsOf(source, row))
        }
      : null,
    /** The country of phone numbers without a country code. */
    country: formats?.country,
    /** Fields whose invalid values are left out. */
    optional: entity.optional ?? [],
    /** @param further the other rows of the record */
    read: (values: Values, further: readonly Values[] = []): MappedRow => {
      const rows = [values, ...further].map(fold)
      const { fields: found, problems } = readRecord(rows)
      const notes = rows.flatMap((row) => [...row.notes.values()])
      return { fields: { ...constants, ...found }, problems, notes }
    },
  }
}

function formatsOf(
  given: Omit<ColumnMap, 'entities'>,
  clinic: Pick<ClinicInfo, 'timezone' | 'currency'>,
  now: number,
): ConversionFormats {
  const timezone = given.timezone ?? clinic.timezone
  const today = wallClock(now, timezone).date
  return {
    dates: given.dates ?? [],
    times: given.times ?? [],
    language: given.language ?? 'en',
    timezone,
    decimal: given.decimal,
    currency: clinic.currency,
    country: given.country,
    titles: given.titles && titlesPattern(given.titles),
    today,
    latest: `${Number(today.slice(0, 4)) + YEARS_AHEAD}-12-31`,
  }
}

/** One or several of the titles before a name. */
const titlesPattern = (titles: readonly string[]): RegExp =>
  new RegExp(String.raw`^(?:(?:${titles.map((title) => escaped(title)).join('|')})\s+)+`, 'iu')

function translation(
  values: ReadonlyMap<string, string | boolean | null> | undefined,
  value: unknown,
): unknown {
  if (!values || (value !== null && typeof value === 'object')) return value
  const text = value === null ? '' : String(value)
  const translated = values.get(foldName(text))
  if (translated !== undefined) return translated
  const others = text === '' ? undefined : values.get('*')
  return others === undefined ? value : others
}

/** The first group of the pattern of a source, or what it matches; null if it does not match. */
function matched(
  source: object & { readonly match?: RegExp | undefined },
  value: unknown,
  row: Row,
  column: string,
): unknown {
  if (!source.match || typeof value !== 'string') return value
  const found = source.match.exec(value)
  if (!found) row.note(column, 'without a match')
  return found && (found.slice(1).find((group) => group !== undefined) ?? found[0])
}

/** The values of a row by folded columns, and notes on how its cells were read, each once. */
class Row extends Map<string, unknown> {
  readonly notes = new Map<string, readonly [column: string, note: string]>()

  note(name: string, note: string): void {
    const column = foldName(name)
    this.notes.set(`${column} ${note}`, [column, note])
  }
}

/** The filled values of a field's columns; null if all are empty, nothing if the file has none of them. */
function valuesOf(source: FieldSource, row: Row): unknown[] {
  if ('minutes' in source && typeof source.minutes === 'number') return [source.minutes]
  if ('cases' in source) {
    const found = source.cases.find(({ column, is }) => isCase(filled(column, row), column, is))
    return found ? [found.value] : []
  }
  const names = columnNames(source)
  const values = 'join' in source ? joinedValue(source, row) : filled(names, row)
  if (values.length > 0) return values
  return names.some((name) => row.has(foldName(name))) ? [null] : []
}

/** The texts of a source: of a list of columns, all. */
const textsOf = (source: FieldSource, row: Row): string[] =>
  valuesOf(source, row)
    .map((value) => matched(source, value, row, ''))
    .filter((value) => value != null)
    .map(String)

/** The values of joined columns with a space between them, in a list; an empty list if there are none. */
function joinedValue({ join }: Extract<FieldSource, { readonly join: unknown }>, row: Row): string[] {
  const parts = join.flatMap((part) => {
    const column = typeof part === 'string' ? part : part.column
    const [value] = filled([column], row)
    const found = typeof part === 'string' ? value : matched(part, value, row, column)
    return found == null ? [] : [String(found).trim()]
  })
  return parts.length > 0 ? [parts.join(' ')] : []
}

/** Whether a row has a line item: a value other than zero in one of its columns. References alone are none. */
function isFilled(sources: ReadonlyMap<string, FieldSource>, row: Row): boolean {
  const own = [...sources].flatMap(([field, source]) =>
    field.endsWith('_external_id') ? [] : columnNames(source),
  )
  return filled(own, row).some((value) => !/^[0.,\s%]*$/.test(String(value)))
}

const filled = (names: readonly string[], row: Row): unknown[] =>
  names.map((name) => row.get(foldName(name))).filter((value) => value != null)

/** A case without a column is true. */
function isCase([value]: unknown[], column: readonly string[], is: readonly string[] | undefined): boolean {
  if (column.length === 0) return true
  if (value == null) return false
  const folded = foldName(String(value))
  return is === undefined || is.some((text) => foldName(text) === folded)
}
