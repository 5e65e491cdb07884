/** Values that a row repeats from an earlier row of the files of a run. */
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { ImportableEntity, ImportRow } from '../../../../shared/sync/entities/entity.ts'
import type { Warning } from '../../../../shared/sync/outcomes/warnings.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'
import { LINE_ITEMS } from './file-entities.ts'

/** The values of the files of a run so far that no two rows may share, with their lines. */
export class SeenIds implements Disposable {
  /** Ids of patients that a row of the run has for another person than an earlier row, or than the clinic. */
  readonly disputed = new Set<string>()
  readonly #db = temporaryDatabase(
    'CREATE TABLE seen (id BLOB PRIMARY KEY, file TEXT, line INTEGER) WITHOUT ROWID',
  )
  readonly #insert = this.#db.prepare('INSERT OR IGNORE INTO seen VALUES (?, ?, ?)')
  readonly #find = this.#db.prepare('SELECT file, line FROM seen WHERE id = ?')

  /** Adds an id or a person. Returns where it was first seen, such as `line 4`, or null if it is new. */
  add(column: string, value: string, file: string, line: number): string | null {
    const key = createHash('sha256').update(`${column}:${value}`).digest().subarray(0, 16)
    if (this.#insert.run(key, file, line).changes > 0) return null
    const first = this.#find.get(key) as { file: string; line: number }
    return `line ${first.line}${first.file === file ? '' : ` of ${basename(first.file)}`}`
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }
}

/** Why a row is rejected whose patient it does not identify; null if it does. */
export function disputedPatient({ disputed }: SeenIds, { fields, columnOf }: ImportRow): string | null {
  const { patient } = fields as { readonly patient?: string }
  if (patient === undefined || !disputed.has(patient)) return null
  return `${columnOf('patient_external_id')} is the id of different people`
}

/** Why a row is rejected whose record an earlier row has; null if none has. Rows of line items can have one invoice. */
export function repeatedId<Fields>(
  seen: SeenIds,
  { name, personOf }: Pick<ImportableEntity<Fields>, 'name' | 'personOf'>,
  file: string,
  { id, externalId, fields, line }: ImportRow<Fields>,
): string | null {
  const first = name === LINE_ITEMS ? null : seen.add(name, id, file, line)
  const person = personOf?.(fields) ?? null
  const isOther = person !== null && seen.add('person of id', `${id}:${person}`, file, line) === null
  if (first === null) return null
  if (isOther) seen.disputed.add(id)
  return `${externalId === undefined ? 'id' : 'external_id'} is already used on ${first}`
}

/** The warning about a row with the same person as an earlier row, or null. */
export function repeatedPerson<Fields>(
  seen: SeenIds,
  { personOf }: Pick<ImportableEntity<Fields>, 'personOf'>,
  file: string,
  { fields, line }: ImportRow<Fields>,
): Warning | null {
  const person = personOf?.(fields) ?? null
  const first = person === null ? null : seen.add('person', person, file, line)
  if (first === null) return null
  return {
    kind: 'same_person',
    field: '',
    issue: `first_name, last_name and date_of_birth are already used on ${first}`,
  }
}
