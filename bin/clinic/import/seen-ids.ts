import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Which ids a file has had so far, and on which line: on disk, since a file may have more than memory holds. */
export class SeenIds implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'clinic-import-'))
  readonly #db = new DatabaseSync(join(this.#folder, 'seen.db'))
  readonly #insert
  readonly #find

  constructor() {
    this.#db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32000')
    this.#db.exec('CREATE TABLE seen (id BLOB PRIMARY KEY, line INTEGER) WITHOUT ROWID')
    // Never committed: nobody but this process reads it, and it is gone with it.
    this.#db.exec('BEGIN')
    this.#insert = this.#db.prepare('INSERT OR IGNORE INTO seen VALUES (?, ?)')
    this.#find = this.#db.prepare('SELECT line FROM seen WHERE id = ?')
  }

  /** Notes an id; the line of its first appearance when it is not the first. */
  add(id: string, line: number): number | null {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
    if (this.#insert.run(bytes, line).changes > 0) return null
    return (this.#find.get(bytes) as { line: number }).line
  }

  [Symbol.dispose](): void {
    this.#db.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
