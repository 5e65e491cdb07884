/** What a file of an unknown system contains: enough of it to suggest a map. */
import { detectEncoding, type Encoding, guessEncoding } from '../files/encoding.ts'
import type { FileFormat } from '../files/row.ts'
import { openRows } from '../files/rows.ts'

/** Rows whose values are looked at. */
const MAX_ROWS = 5_000

/** More different values than a status has. */
const MAX_DISTINCT = 40

/** A column with its filled values, and how many of them differ. */
export type Column = {
  readonly name: string
  readonly values: readonly string[]
  /** The different values of the whole file; null if there are many. */
  readonly distinct: ReadonlySet<string> | null
  readonly isUnique: boolean
}

export type Sample = {
  readonly file: string
  readonly format: FileFormat
  readonly rows: number
  readonly columns: readonly Column[]
}

/** Reads a file in the stated encoding, or the one that it looks like. @throws ImportFileError */
export async function readSample(file: string, stated: Encoding | undefined): Promise<Sample> {
  const encoding = stated ?? (await guessEncoding(file))
  const { format, rows } = await openRows(file, await detectEncoding(file, encoding))
  const known = new Map<string, { values: string[]; distinct: Set<string> }>()
  let count = 0
  for await (const row of rows) {
    if (!('values' in row)) continue
    count++
    for (const [name, value] of Object.entries(row.values)) {
      const column = known.get(name) ?? { values: [], distinct: new Set() }
      known.set(name, column)
      const text = typeof value === 'object' ? '' : String(value).trim()
      if (text === '') continue
      if (column.values.length < MAX_ROWS) column.values.push(text)
      if (column.distinct.size <= MAX_DISTINCT) column.distinct.add(text)
    }
  }
  const columns = [...known].map(([name, { values, distinct }]) => ({
    name,
    values,
    distinct: distinct.size > MAX_DISTINCT ? null : distinct,
    isUnique: new Set(values).size === values.length,
  }))
  return { file, format, rows: count, columns }
}
