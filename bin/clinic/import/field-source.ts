import { foldedName } from './field-names.ts'
import type { FieldSource } from './map-schema.ts'

/** All columns that a field can be read from. */
export const columnNames = (source: FieldSource): readonly string[] =>
  'cases' in source ? source.cases.flatMap(({ column }) => column) : source.column

type Row = ReadonlyMap<string, unknown>

/** The value of a field; null if its columns are empty, undefined if the file has none of them. */
export function fieldValue(source: FieldSource, row: Row): unknown {
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
