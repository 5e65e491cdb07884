/** Rows of a file that are one record together, such as the line items of an invoice. */
import { deserialize, serialize } from 'node:v8'
import { ImportFileError } from './problems.ts'
import { HEADER_PROBLEM, type SourceRow, SUM_PROBLEM } from './row.ts'
import { temporaryDatabase } from './temporary-database.ts'

/**
 * The records of a file in the order of their first rows, each as its first row with the further ones. The rows of a record may be
 * anywhere in the file, so all are kept in a temporary file before the first record is returned. A row without an id belongs to the
 * record of the row above it.
 * @param recordOf the id of the record of a row
 * @throws ImportFileError for a row that cannot be read: what it belongs to is unclear
 */
export async function* groupedRows(
  file: string,
  rows: AsyncIterable<SourceRow>,
  recordOf: (values: { readonly [name: string]: unknown }) => unknown,
): AsyncGenerator<SourceRow> {
  using db = temporaryDatabase(
    'CREATE TABLE kept (first INTEGER, at INTEGER, row BLOB, PRIMARY KEY (first, at)) WITHOUT ROWID',
  )
  const firstOf = new Map<string, number>()
  const keep = db.prepare('INSERT INTO kept VALUES (?, ?, ?)')
  let at = 0
  let above: number | undefined
  for await (const row of rows) {
    const id = 'values' in row ? String(recordOf(row.values) ?? '').trim() : ''
    if (id !== '') {
      above = firstOf.get(id) ?? at
      firstOf.set(id, above)
    }
    const isRecord = 'values' in row || (row.problem !== SUM_PROBLEM && row.problem !== HEADER_PROBLEM)
    if (isRecord && 'problem' in row)
      throw new ImportFileError(
        `${file}:${row.line}: ${row.problem}: correct the line, which may be a line item`,
      )
    keep.run((isRecord ? above : undefined) ?? at, at, serialize(row))
    at++
  }
  let group: SourceRow[] = []
  let current: number | undefined
  const sorted = db.prepare('SELECT first, row FROM kept ORDER BY first, at')
  for (const { first, row } of sorted.iterate() as Iterable<{ first: number; row: Uint8Array }>) {
    if (first !== current) yield* recordOfRows(group)
    if (first !== current) group = []
    current = first
    group.push(deserialize(row))
  }
  yield* recordOfRows(group)
}

function* recordOfRows([row, ...further]: readonly SourceRow[]): Generator<SourceRow> {
  if (row) yield further.length > 0 ? { ...row, further } : row
}
