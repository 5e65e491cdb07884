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
 * The rows of an export between reading and writing, in a database on disk: a clinic can have more records than fit in memory, and
 * records that change during the export replace their rows.
 */
export class Staging implements Disposable {
  readonly #db: DatabaseSync
  readonly #put
  readonly #find

  constructor(file: string) {
    this.#db = new DatabaseSync(file)
    this.#db.exec(`
      PRAGMA synchronous = OFF; PRAGMA cache_size = -16000;
      CREATE TABLE records
        (entity TEXT, id TEXT, external TEXT, place TEXT, columns TEXT, PRIMARY KEY (entity, id)) WITHOUT ROWID`)
    this.#put = this.#db.prepare(`
      INSERT INTO records VALUES (?, ?, ?, ?, ?) ON CONFLICT (entity, id) DO UPDATE
        SET external = excluded.external, place = excluded.place, columns = excluded.columns
        WHERE external <> excluded.external OR place <> excluded.place OR columns <> excluded.columns`)
    this.#find = this.#db.prepare('SELECT external, columns FROM records WHERE entity = ? AND id = ?')
  }

  /** Stores rows. Returns how many were new or different. */
  put(entity: string, rows: readonly StagedRow[]): number {
    let changed = 0
    this.#db.exec('BEGIN')
    for (const { id, externalId, sortKey, columns } of rows)
      changed += Number(this.#put.run(entity, id, externalId, sortKey, JSON.stringify(columns)).changes)
    this.#db.exec('COMMIT')
    return changed
  }

  /** Stores all rows of an entity in place of those before. Returns how many were new, different or gone. */
  replace(entity: string, rows: readonly StagedRow[]): number {
    const ids = JSON.stringify(rows.map(({ id }) => id))
    const others = 'DELETE FROM records WHERE entity = ? AND id NOT IN (SELECT value FROM json_each(?))'
    const gone = this.#db.prepare(others).run(entity, ids)
    return Number(gone.changes) + this.put(entity, rows)
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

  [Symbol.dispose](): void {
    this.#db.close()
  }
}
