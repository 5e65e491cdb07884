/** Rejects a wrong header once, instead of every row. */

import { foldName, quoted, suggestion } from '../../../../shared/domain/closest-name.ts'
import type { ImportEntity } from '../../../../shared/sync/entities/entity.ts'
import { ownIdColumn, withOwnIdColumns } from '../../../../shared/sync/external-ids/resolve-references.ts'
import { listed } from '../files/field-names.ts'
import { ImportFileError } from '../files/import-errors.ts'
import type { FileFormat } from '../files/row.ts'
import type { RowMap } from '../maps/row-map.ts'

/** The columns that a person can name to `--map`, or in a file without one. */
const MAX_LISTED = 10

/** @throws ImportFileError that names the columns, unless they may be the values of a patient */
export function checkHeader(
  entity: Pick<ImportEntity, 'name' | 'columns' | 'required'>,
  { header, headerLine }: FileFormat & { readonly kind: 'csv' },
  map: RowMap,
  file: string,
): void {
  const place = `${file}:${headerLine}`
  const columns = ['external_id', ...entity.columns]
  const fields = withOwnIdColumns(columns)
  const valid = `valid columns of ${entity.name} are ${validNames(fields, map).join(', ')}`
  const nameless = header.flatMap((name, at) => (name === '' ? [at + 1] : []))
  const named = header.filter((name) => name !== '')
  const unknown = map.unknownNames(named)
  const read = new Set(fields.flatMap((field) => map.columnsOf(field) ?? []).map(foldName))
  const known = named.filter((name) => read.has(foldName(name)))
  // The first line may be a patient, so its content must not be printed.
  if (known.length === 0)
    throw new ImportFileError(
      `${place}: line ${headerLine} does not look like a header: it has none of the columns of ${entity.name}. ` +
        `Remove the lines above the header. Files of other systems need --map; ${valid}`,
    )
  const problems = [
    ...(nameless.length > 0
      ? [`${columnsAt(nameless)} of the header ${nameless.length > 1 ? 'have' : 'has'} no name`]
      : []),
    // An id of this system is not suggested: a number of another one would be read as the id of a record.
    ...unknownProblems(unknown, named, validNames(columns, map)),
    ...duplicates(header, map),
    ...missingProblems(entity, named, map),
  ]
  if (problems.length > 0) throw new ImportFileError(`${place}: ${problems.join('; ')}; ${valid}`)
}

const columnsAt = (positions: readonly number[]): string =>
  positions.length > 1 ? `columns ${listed(positions)}` : `column ${positions[0]}`

/** The names that columns can have, each once. */
const validNames = (fields: readonly string[], map: RowMap): string[] => [
  ...new Set(fields.flatMap((field) => map.columnsOf(field) ?? [])),
]

function unknownProblems(
  unknown: readonly string[],
  named: readonly string[],
  valid: readonly string[],
): string[] {
  if (unknown.length === 0) return []
  // Half a header may be values that look like a column's name by chance.
  if (unknown.length * 2 > named.length) {
    const positions = unknown.map((name) => named.indexOf(name) + 1)
    const more = positions.length > MAX_LISTED ? ` and ${positions.length - MAX_LISTED} more` : ''
    const [verb, what] = positions.length > 1 ? ['are', 'columns'] : ['is', 'column']
    return [
      `${columnsAt(positions.slice(0, MAX_LISTED))}${more} ${verb} unknown ${what}, not shown because the line may be a row`,
    ]
  }
  const present = new Set(named.map(foldName))
  const missing = valid.filter((name) => !present.has(foldName(name)))
  return unknown.map(
    (name) => `column ${quoted([name])} is neither read nor ignored${suggestion(name, missing)}`,
  )
}

/** Each column that is read, and that the header has more than once. */
const duplicates = (header: readonly string[], map: RowMap): string[] => [
  ...new Set(map.repeatedNames(header).map(({ earlier }) => `the column ${quoted([earlier])} appears twice`)),
]

function missingProblems(
  { required }: Pick<ImportEntity, 'required'>,
  named: readonly string[],
  map: RowMap,
): string[] {
  const present = new Set(named.map(foldName))
  return ['external_id', ...required].flatMap((field) => {
    const columns = [field, ownIdColumn(field)].map((name) => map.columnsOf(name))
    if (columns.some((names) => names === null || names.some((name) => present.has(foldName(name)))))
      return []
    const [first] = columns.flatMap((names) => names ?? [])
    if (first === undefined) return [`the map reads no column for ${field}`]
    return [`column ${quoted([first])}${first === field ? '' : ` (${field})`} is missing`]
  })
}
