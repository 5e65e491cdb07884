/** The columns of files: which of them are fields, and what is wrong with the others. */
import { foldName, quoted, suggestion } from '../../../../shared/domain/closest-name.ts'
import type { ImportEntity } from '../../../../shared/sync/entities/entity.ts'
import { ownIdColumn, withOwnIdColumns } from '../../../../shared/sync/external-ids/resolve-references.ts'
import { listed } from './grouped-texts.ts'
import { ImportFileError, Problem } from './problems.ts'
import { type FileFormat, REASON } from './row.ts'

type Fields = Pick<ImportEntity, 'name' | 'columns' | 'required'>

/** The fields that a file of an entity can have as columns. */
export const fieldsOf = ({ columns }: Pick<Fields, 'columns'>): ReadonlySet<string> =>
  new Set(withOwnIdColumns(['external_id', ...columns]))

/**
 * Rejects a wrong header once, instead of every row.
 * @throws ImportFileError that names the columns, unless they may be the values of a patient
 */
export function checkHeader(
  entity: Fields,
  { header, headerLine }: FileFormat & { readonly kind: 'csv' },
  file: string,
): void {
  const place = `${file}:${headerLine}`
  const fields = fieldsOf(entity)
  const valid = `valid columns of ${entity.name} are ${[...fields].join(', ')}`
  const folded = header.map(foldName)
  const isField = (name: string) => fields.has(foldName(name))
  const unknown = header.filter((name) => !isField(name) && foldName(name) !== REASON)
  // The first line may be a patient, so its content must not be printed.
  if (!header.some(isField))
    throw new ImportFileError(
      `${place}: line ${headerLine} does not look like a header: it has none of the columns of ${entity.name}. ` +
        `Remove the lines above the header. Files of other systems need --with; ${valid}`,
    )
  const twice = new Set(header.filter((name, at) => isField(name) && folded.indexOf(foldName(name)) < at))
  const missing = ['external_id', ...entity.required].filter(
    (field) => !folded.includes(field) && !folded.includes(ownIdColumn(field)),
  )
  const problems = [
    // An id of this system is not suggested: a number of another one would be read as the id of a record.
    ...unreadProblems(unknown, header, ['external_id', ...entity.columns]),
    ...[...twice].map((name) => `the column ${quoted([name])} appears twice`),
    ...missing.map((field) => `column ${quoted([field])} is missing`),
  ]
  if (problems.length > 0) throw new ImportFileError(`${place}: ${problems.join('; ')}; ${valid}`)
}

/**
 * The values of a row by fields, whose names it can write in other ways; without the reason of an earlier rejection.
 * @throws Problem if two of its names are one field
 */
export function valuesByField(
  given: Readonly<Record<string, unknown>>,
  fields: ReadonlySet<string>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const names: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    const folded = foldName(name)
    const isField = fields.has(folded)
    if (folded === REASON) continue
    const field = isField ? folded : name
    if (names[field] !== undefined)
      throw new Problem(`${quoted([name])} is the same field as ${quoted([names[field]])}`)
    names[field] = name
    values[field] = value
  }
  return values
}

/** More columns than a person could name are values. */
const MAX_LISTED = 10

const columnsAt = (positions: readonly number[]): string =>
  positions.length > 1 ? `columns ${listed(positions)}` : `column ${positions[0]}`

/**
 * What is wrong with each column that nothing reads: by its position if its name may be a value.
 * @param isHeader whether the names are certainly those of columns
 */
export function unreadProblems(
  unread: readonly string[],
  header: readonly string[],
  valid: readonly string[],
  isHeader = false,
): string[] {
  const nameless = header.flatMap((name, at) => (name === '' && unread.includes('') ? [at + 1] : []))
  const named = header.filter((name) => name !== '')
  const unknown = unread.filter((name) => name !== '')
  const problems =
    nameless.length > 0
      ? [`${columnsAt(nameless)} of the header ${nameless.length > 1 ? 'have' : 'has'} no name`]
      : []
  // Half a header may be values that look like a column's name by chance.
  if (!isHeader && unknown.length * 2 > named.length) {
    const positions = unknown.map((name) => header.indexOf(name) + 1)
    const more = positions.length > MAX_LISTED ? ` and ${positions.length - MAX_LISTED} more` : ''
    const [verb, what] = positions.length > 1 ? ['are', 'columns'] : ['is', 'column']
    return [
      ...problems,
      `${columnsAt(positions.slice(0, MAX_LISTED))}${more} ${verb} unknown ${what}, not shown because the line may be a row`,
    ]
  }
  const present = new Set(named.map(foldName))
  const missing = valid.filter((name) => !present.has(foldName(name)))
  return [
    ...problems,
    ...unknown.map(
      (name) => `column ${quoted([name])} is neither read nor ignored${suggestion(name, missing)}`,
    ),
  ]
}
