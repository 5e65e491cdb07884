/** Rejects a wrong header once, instead of every row. */

import { foldName, quoted } from '../../../../shared/domain/closest-name.ts'
import type { ImportEntity } from '../../../../shared/sync/entities/entity.ts'
import { ownIdColumn, withOwnIdColumns } from '../../../../shared/sync/external-ids/resolve-references.ts'
import { ImportFileError } from '../files/import-errors.ts'
import type { FileFormat } from '../files/row.ts'
import { isReason } from '../files/row.ts'
import { unreadProblems } from '../files/unread-columns.ts'

/** @throws ImportFileError that names the columns, unless they may be the values of a patient */
export function checkHeader(
  { name: entity, columns, required }: Pick<ImportEntity, 'name' | 'columns' | 'required'>,
  { header, headerLine }: FileFormat & { readonly kind: 'csv' },
  file: string,
): void {
  const place = `${file}:${headerLine}`
  const fields = withOwnIdColumns(['external_id', ...columns])
  const valid = `valid columns of ${entity} are ${fields.join(', ')}`
  const folded = header.map(foldName)
  const isField = (name: string) => fields.includes(foldName(name))
  const unknown = header.filter((name) => !isField(name) && !isReason(foldName(name)))
  // The first line may be a patient, so its content must not be printed.
  if (!header.some(isField))
    throw new ImportFileError(
      `${place}: line ${headerLine} does not look like a header: it has none of the columns of ${entity}. ` +
        `Remove the lines above the header. Files of other systems need --with; ${valid}`,
    )
  const twice = new Set(header.filter((name, at) => isField(name) && folded.indexOf(foldName(name)) < at))
  const missing = ['external_id', ...required].filter(
    (field) => !folded.includes(field) && !folded.includes(ownIdColumn(field)),
  )
  const problems = [
    // An id of this system is not suggested: a number of another one would be read as the id of a record.
    ...unreadProblems(unknown, header, ['external_id', ...columns]),
    ...[...twice].map((name) => `the column ${quoted([name])} appears twice`),
    ...missing.map((field) => `column ${quoted([field])} is missing`),
  ]
  if (problems.length > 0) throw new ImportFileError(`${place}: ${problems.join('; ')}; ${valid}`)
}
