import { chmodSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** A row of an export, before the external ids of the records that it refers to are known. */
export type StagedRow = {
  readonly id: string
  readonly externalId: string
  /** The position of the row in its file, as text that sorts. It is the same in every clinic with these records. */
  readonly sortKey: string
  /** The columns. References have ids of records where the file has external ids. */
  readonly columns: Readonly<Record<string, unknown>>
}

type Stored = { external: string; columns: string }

/**
 * The rows of an export between reading and writing, in a database on disk: a clinic can have more records than fit in memory,
 * records that change during the export replace their rows, and a stopped export continues from it.
 */
export class Staging implements Disposable {
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #put
  readonly #find
  readonly #setPosition
  readonly #getPosition

  constructor(file: string) {
    this.#file = file
    this.#db = new DatabaseSync(file)
    chmodSync(file, 0o600)
    this.#db.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000')
    this.#db.exec(`
      CREATE TABLE IF NOT EXISTS records
        (entity TEXT, id TEXT, external TEXT, place TEXT, columns TEXT, PRIMARY KEY (entity, id)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS positions (name TEXT PRIMARY KEY, position TEXT)`)
    this.#put = this.#db.prepare(`
      INSERT INTO records VALUES (?, ?, ?, ?, ?) ON CONFLICT (entity, id) DO UPDATE
        SET external = excluded.external, place = excluded.place, columns = excluded.columns
        WHERE external <> excluded.external OR place <> excluded.place OR columns <> excluded.columns`)
    this.#find = this.#db.prepare('SELECT external, columns FROM records WHERE entity = ? AND id = ?')
    this.#setPosition = this.#db.prepare('INSERT OR REPLACE INTO positions VALUES (?, ?)')
    this.#getPosition = this.#db.prepare('SELECT position FROM positions WHERE name = ?')
  }

  /** The position that was stored under a name; undefined at the beginning. */
  position(name: string): string | undefined {
    return (this.#getPosition.get(name) as { position: string } | undefined)?.position
  }

  /** Stores rows together with the position after them. Returns how many were new or different. */
  put(entity: string, rows: readonly StagedRow[], name: string, position: string): number {
    this.#db.exec('BEGIN IMMEDIATE')
    const changed = this.#putAll(entity, rows)
    this.#setPosition.run(name, position)
    this.#db.exec('COMMIT')
    return changed
  }

  /** Stores all rows of an entity in place of those before. Returns how many were new, different or gone. */
  replace(entity: string, rows: readonly StagedRow[]): number {
    const ids = new Set(rows.map(({ id }) => id))
    const before = this.#db.prepare('SELECT id FROM records WHERE entity = ?').all(entity) as { id: string }[]
    const gone = before.filter(({ id }) => !ids.has(id))
    const remove = this.#db.prepare('DELETE FROM records WHERE entity = ? AND id = ?')
    this.#db.exec('BEGIN IMMEDIATE')
    for (const { id } of gone) remove.run(entity, id)
    const changed = this.#putAll(entity, rows)
    this.#db.exec('COMMIT')
    return gone.length + changed
  }

  #putAll(entity: string, rows: readonly StagedRow[]): number {
    let changed = 0
    for (const { id, externalId, sortKey, columns } of rows)
      changed += Number(this.#put.run(entity, id, externalId, sortKey, JSON.stringify(columns)).changes)
    return changed
  }

  /** The rows of an entity in the order of their sort keys, with external ids for references. */
  *rows(entity: string): Generator<Record<string, unknown>> {
    const inOrder = this.#db.prepare('SELECT external, columns FROM records WHERE entity = ? ORDER BY place')
    for (const { external, columns } of inOrder.iterate(entity) as Iterable<Stored>)
      yield { external_id: external, ...JSON.parse(columns, (name, value) => this.#resolve(name, value)) }
  }

  /** `patient_external_id` and `doctor_external_ids` name records by their ids until now. */
  #resolve(name: string, value: unknown): unknown {
    const [, kind, many] = /^(\w+)_external_id(s?)$/.exec(name) ?? []
    if (kind === undefined || value === null) return value
    const externalId = (id: unknown) =>
      (this.#find.get(`${kind}s`, String(id)) as Stored | undefined)?.external ?? id
    return many === 's' ? (value as unknown[]).map(externalId) : externalId(value)
  }

  /** Deletes the database: the files have its rows. */
  delete(): void {
    this.#db.close()
    rmSync(this.#file, { force: true })
  }

  [Symbol.dispose](): void {
    if (this.#db.isOpen) this.#db.close()
  }
}
