/** What a row has in common with an earlier row of its file. */
import type { ImportableEntity, ImportRow } from './entity.ts'
import type { SeenIds } from './seen-ids.ts'
import type { Warning } from './warnings.ts'

/** Why a row is rejected that has a value of an earlier row; null if it has none. */
export function repeatedValue(
  seen: SeenIds,
  { row, unique }: { readonly row: ImportRow; readonly unique: Readonly<Record<string, string>> },
): string | null {
  const identity = row.externalId === undefined ? 'id' : 'external_id'
  const firstLine = seen.add('id', row.id, row.line)
  if (firstLine !== null) return `${identity} is already used on line ${firstLine}`
  for (const [column, value] of Object.entries(unique)) {
    const line = seen.add(column, value, row.line)
    if (line !== null) return `${column} is already used on line ${line}`
  }
  return null
}

/** The warning about a row whose person is that of an earlier row; null if it is not. */
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
    text: `first_name, last_name and date_of_birth are already used on line ${first}`,
  }
}
