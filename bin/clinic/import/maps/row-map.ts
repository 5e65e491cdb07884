/** Reads the fields of an entity from the columns of a file, by a map or by their own names. */

import { isOwnIdColumn } from '../external-ids/resolve-references.ts'
import { foldedName } from '../files/field-names.ts'
import { REASONS } from '../files/rejections.ts'
import { type ConversionFormats, convertField } from './convert-field.ts'
import type { ColumnMap, EntityMap, FieldSource } from './map-schema.ts'

/** The fields of a row, and what is wrong with values that the map cannot convert. */
export type MappedRow = {
  readonly fields: { readonly [field: string]: unknown }
  readonly problems: ReadonlyMap<string, string>
}

export type RowMap = {
  /** Names of columns that the map reads for a field; null for a constant. */
  readonly columnsOf: (field: string) => readonly string[] | null
  /** Whether a field is read from a column, by its folded name. */
  readonly isRead: (column: string) => boolean
  /** Names of a file that no field is read from, except ignored names and the column with the reason of an earlier rejection. */
  readonly unknownNames: (names: readonly string[]) => string[]
  /** Names that are read, each with an earlier one that is the same in another spelling. */
  readonly repeatedNames: (names: readonly string[]) => { readonly name: string; readonly earlier: string }[]
  readonly read: (values: { readonly [name: string]: unknown }) => MappedRow
}

const isReason = (folded: string): boolean => REASONS.some((name) => name === folded)

const EMPTY_MAP: EntityMap = { columns: {}, ignore: [], values: {}, constants: {} }

/** @param timezone The time zone of times without an offset, unless the map has one. */
export function rowMap(
  fields: readonly string[],
  entityName: string,
  map: ColumnMap | undefined,
  timezone: string,
): RowMap {
  const entity = map?.entities[entityName] ?? EMPTY_MAP
  const formats: ConversionFormats = {
    dates: entity.dates ?? map?.dates ?? [],
    times: entity.times ?? map?.times ?? [],
    timezone: entity.timezone ?? map?.timezone ?? timezone,
    decimal: entity.decimal ?? map?.decimal,
    country: entity.country ?? map?.country,
  }
  const mapped = new Set(Object.values(entity.columns).flatMap(columnNames).map(foldedName))
  const sources = new Map<string, FieldSource>(
    fields
      .filter((field) => !(field in entity.constants))
      // Another system may have its own ids in a column that is named as ids of records are here.
      .filter((field) => field in entity.columns || !isOwnIdColumn(field) || !mapped.has(foldedName(field)))
      .map((field) => [field, entity.columns[field] ?? { column: [field] }]),
  )
  const constants = Object.fromEntries(
    fields.flatMap((field) => (field in entity.constants ? [[field, entity.constants[field]]] : [])),
  )
  const read = new Set([...sources.values()].flatMap(columnNames).map(foldedName))
  const ignored = entity.ignore === 'others' ? null : new Set(entity.ignore.map(foldedName))
  const translations = new Map(
    Object.entries(entity.values).map(([field, values]) => [
      field,
      new Map(Object.entries(values).map(([from, to]) => [foldedName(from), to])),
    ]),
  )

  return {
    columnsOf: (field) => {
      const source = sources.get(field)
      return source ? columnNames(source) : null
    },
    isRead: (column) => read.has(column),
    unknownNames: (names) =>
      names.filter((name) => {
        const folded = foldedName(name)
        return !(read.has(folded) || isReason(folded) || ignored === null || ignored.has(folded))
      }),
    repeatedNames: (names) => {
      const first = new Map<string, string>()
      return names.flatMap((name) => {
        const folded = foldedName(name)
        const earlier = first.get(folded)
        if (earlier === undefined) first.set(folded, name)
        return earlier === undefined || !read.has(folded) ? [] : [{ name, earlier }]
      })
    },
    read: (values) => {
      const row = new Map(Object.entries(values).map(([name, value]) => [foldedName(name), value]))
      const result: { [field: string]: unknown } = { ...constants }
      const problems = new Map<string, string>()
      for (const [field, source] of sources) {
        const found = fieldValue(source, row)
        if (found === undefined) continue
        const translated = translation(translations.get(field), found)
        const part = 'part' in source ? source.part : undefined
        const converted = convertField(field, translated, part, formats, row)
        if ('problem' in converted) problems.set(field, converted.problem)
        else result[field] = converted.value
      }
      return { fields: result, problems }
    },
  }
}

function translation(values: ReadonlyMap<string, string | null> | undefined, value: unknown): unknown {
  if (!values || (value !== null && typeof value === 'object')) return value
  const translated = values.get(foldedName(value === null ? '' : String(value)))
  return translated === undefined ? value : translated
}

/** All columns that a field can be read from. */
const columnNames = (source: FieldSource): readonly string[] =>
  'cases' in source ? source.cases.flatMap(({ column }) => column) : source.column

type Row = ReadonlyMap<string, unknown>

/** The value of a field; null if its columns are empty, undefined if the file has none of them. */
function fieldValue(source: FieldSource, row: Row): unknown {
  if ('cases' in source) {
    const found = source.cases.find(({ column, is }) => {
      const value = firstValue(column, row)
      return (
        value != null &&
        (is === undefined || is.some((text) => foldedName(text) === foldedName(String(value))))
      )
    })
    return found?.value
  }
  return firstValue(source.column, row)
}

function firstValue(columns: readonly string[], row: Row): unknown {
  let empty: null | undefined
  for (const column of columns) {
    const value = row.get(foldedName(column))
    if (value !== undefined && value !== null) return value
    if (value === null) empty = null
  }
  return empty
}
