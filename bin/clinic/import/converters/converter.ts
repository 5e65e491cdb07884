/**
 * What a converter imports: `export default converter({ 'Patienten': (row) => ({ patients: { ... } }) })`. Its functions make records, with the
 * fields of docs/import.md, of the rows of another system's files.
 */
import { formatTime, LAST_MINUTE, parseTime } from '../../../../shared/domain/interval.ts'
import { Problem } from '../files/problems.ts'
import type { Exactly, Records } from './records.ts'
import type { Row } from './row.ts'

export { Problem } from '../files/problems.ts'
export type { Row } from './row.ts'

/** The records of a row, by their entities: none, one or several. */
type Result = (Records & { readonly [other: string]: unknown }) | null | undefined

/** The function of a file, which is called with each row, or with the rows that have the same value in a column, and those below without one. */
type FileConverter<Given> =
  | ((row: Row) => Given)
  | {
      readonly groupBy: string
      readonly convert: (rows: readonly [Row, ...Row[]]) => Given
    }

/** By the beginning of a file's name. */
export type Converter = { readonly files: Readonly<Record<string, FileConverter<Result>>> }

/** Makes a converter. The second part of the type rejects fields that no entity has, which TypeScript allows in what functions return. */
export const converter = <const Given extends Record<string, Result>>(
  files: { readonly [File in keyof Given]: FileConverter<Given[File]> } & {
    readonly [File in keyof Given]: FileConverter<Exactly<Given[File], Records>>
  },
): Converter => ({ files: files as Converter['files'] })

/** The time so many minutes after `HH:MM`; null if one of both is. @throws Problem after midnight */
export function later(time: string | null, minutes: number | null): string | null {
  if (time === null || minutes === null) return null
  const end = parseTime(time) + minutes
  if (end > LAST_MINUTE) throw new Problem(`ends after midnight`)
  return formatTime(end)
}
