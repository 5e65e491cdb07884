/** Rows of a file that are one record together, such as the line items of an invoice. */
import { deserialize, serialize } from 'node:v8'
import { ImportFileError } from './import-errors.ts'
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
  using kept = new KeptRows()
  let above: string | null = null
  for await (const row of rows) {
    const id: string = 'values' in row ? String(recordOf(row.values) ?? '').trim() : ''
    if (id !== '') above = id
    const isRecord = 'values' in row || (row.problem !== SUM_PROBLEM && row.problem !== HEADER_PROBLEM)
    if (isRecord && 'problem' in row)
      throw new ImportFileError(
        `${file}:${row.line}: ${row.problem}: correct the line, which may be a line item`,
      )
    kept.add(isRecord ? above : null, row)
  }
  let group: SourceRow[] = []
  let current: number | undefined
  for (const { first, row } of kept.sorted()) {
    if (first !== current) yield* recordOfRows(group)
    if (first !== current) group = []
    current = first
    group.push(row)
  }
  yield* recordOfRows(group)
}

function* recordOfRows([row, ...further]: readonly SourceRow[]): Generator<SourceRow> {
  if (row) yield further.length > 0 ? { ...row, further } : row
}

/** Rows by the first row of their record. */
class KeptRows implements Disposable {
  readonly #db = temporaryDatabase(
    'CREATE TABLE records (id TEXT PRIMARY KEY, first INTEGER) WITHOUT ROWID;' +
      'CREATE TABLE kept (first INTEGER, at INTEGER, row BLOB, PRIMARY KEY (first, at)) WITHOUT ROWID',
  )
  readonly #begin = this.#db.prepare('INSERT OR IGNORE INTO records VALUES (?, ?)')
  readonly #find = this.#db.prepare('SELECT first FROM records WHERE id = ?')
  readonly #keep = this.#db.prepare('INSERT INTO kept VALUES (?, ?, ?)')
  #count = 0

  add(record: string | null, row: SourceRow): void {
    const at = this.#count++
    if (record !== null) this.#begin.run(record, at)
    const first = record === null ? at : (this.#find.get(record) as { first: number }).first
    this.#keep.run(first, at, serialize(row))
  }

  *sorted(): Generator<{ readonly first: number; readonly row: SourceRow }> {
    const all = this.#db.prepare('SELECT first, row FROM kept ORDER BY first, at')
    for (const { first, row } of all.iterate() as Iterable<{ first: number; row: Uint8Array }>)
      yield { first, row: deserialize(row) }
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}
