/** Other texts than external ids by which files name records, such as national ids and names, in the files of one import. */
import { lettersOf } from '../files/field-names.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'

/** The text of several records. */
const SEVERAL = null

export class Aliases implements Disposable {
  readonly #db = temporaryDatabase(
    'CREATE TABLE ids (entity TEXT, id TEXT, PRIMARY KEY (entity, id)) WITHOUT ROWID;' +
      'CREATE TABLE aliases (entity TEXT, alias TEXT, id TEXT, PRIMARY KEY (entity, alias)) WITHOUT ROWID',
  )
  /** Entities some of whose records have aliases. */
  readonly #known = new Set<string>()
  readonly #addId = this.#db.prepare('INSERT OR IGNORE INTO ids VALUES (?, ?)')
  readonly #findId = this.#db.prepare('SELECT id FROM ids WHERE entity = ? AND id = ?')
  readonly #addAlias = this.#db.prepare(
    'INSERT INTO aliases VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET id = iif(id = excluded.id, id, NULL)',
  )
  readonly #findAlias = this.#db.prepare('SELECT id FROM aliases WHERE entity = ? AND alias = ?')

  /** @param texts other texts that name the record */
  add(entity: string, externalId: string, texts: readonly string[]): void {
    this.#known.add(entity)
    this.#addId.run(entity, externalId)
    for (const text of texts)
      if (lettersOf(text) !== '') this.#addAlias.run(entity, lettersOf(text), externalId)
  }

  /** The external id of the record that a text names: the text itself, unless only an alias is known; null if it names several records. */
  resolve(entity: string, text: string): string | null {
    if (!this.#known.has(entity)) return text
    if (this.#findId.get(entity, text.trim())) return text
    const found = this.#findAlias.get(entity, lettersOf(text)) as { id: string | typeof SEVERAL } | undefined
    return found ? found.id : text
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}
