/** Values that a row repeats from an earlier row of its file. */
import { createHash } from 'node:crypto'
import type { ImportableEntity, ImportRow } from '../../../../shared/sync/entities/entity.ts'
import type { Warning } from '../../../../shared/sync/outcomes/warnings.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'

/** The values of a file so far that no two rows may share, with their lines. */
export class SeenIds implements Disposable {
  readonly #db = temporaryDatabase('CREATE TABLE seen (id BLOB PRIMARY KEY, line INTEGER) WITHOUT ROWID')
  readonly #insert = this.#db.prepare('INSERT OR IGNORE INTO seen VALUES (?, ?)')
  readonly #find = this.#db.prepare('SELECT line FROM seen WHERE id = ?')

  /** Adds an id or a person. Returns the line that it was first seen on, or null if it is new. */
  add(column: string, value: string, line: number): number | null {
    const key = createHash('sha256').update(`${column}:${value}`).digest().subarray(0, 16)
    if (this.#insert.run(key, line).changes > 0) return null
    return (this.#find.get(key) as { line: number }).line
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}

/** Why a row is rejected whose record an earlier row has; null if none has. */
export function repeatedId(seen: SeenIds, { id, externalId, line }: ImportRow): string | null {
  const firstLine = seen.add('id', id, line)
  if (firstLine === null) return null
  return `${externalId === undefined ? 'id' : 'external_id'} is already used on line ${firstLine}`
}

/** The warning about a row with the same person as an earlier row, or null. */
export function repeatedPerson<Fields>(
  seen: SeenIds,
  { personOf }: Pick<ImportableEntity<Fields>, 'personOf'>,
  { fields, line }: ImportRow<Fields>,
): Warning | null {
  const person = personOf?.(fields) ?? null
  const first = person === null ? null : seen.add('person', person, line)
  if (first === null) return null
  return {
    kind: 'same_person',
    field: '',
    issue: `first_name, last_name and date_of_birth are already used on line ${first}`,
  }
}
