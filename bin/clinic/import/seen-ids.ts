import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The values of a file so far that no two rows may share, with their lines. On disk, because a file can have more than fit in memory. */
export class SeenIds implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'clinic-import-'))
  readonly #db = new DatabaseSync(join(this.#folder, 'seen.db'))
  readonly #insert
  readonly #find

  constructor() {
    this.#db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32000')
    this.#db.exec('CREATE TABLE seen (id BLOB PRIMARY KEY, line INTEGER) WITHOUT ROWID')
    // Never committed: only this process reads the database, and it is deleted afterwards.
    this.#db.exec('BEGIN')
    this.#insert = this.#db.prepare('INSERT OR IGNORE INTO seen VALUES (?, ?)')
    this.#find = this.#db.prepare('SELECT line FROM seen WHERE id = ?')
  }

  /** Adds the value of a column. Returns the line that it was first seen on, or null if it is new. */
  add(column: string, value: string, line: number): number | null {
    const key = createHash('sha256').update(`${column}:${value}`).digest().subarray(0, 16)
    if (this.#insert.run(key, line).changes > 0) return null
    return (this.#find.get(key) as { line: number }).line
  }

  [Symbol.dispose](): void {
    this.#db.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
