/** Names columns that nothing reads. */
import { foldName, quoted, suggestion } from '../../../../shared/domain/closest-name.ts'
import { listed } from './field-names.ts'

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
