/** An import finds the ids of its rows by the links that it has read once. New records depend on them. */
import { readImportLinks } from '../../../../shared/store/external-ids/manual-links.ts'
import { importLinksKey } from '../../../../shared/store/keys/operator.ts'
import type { Changeset } from '../../../../shared/store/table/changeset.ts'
import { ConditionFailed } from '../../../../shared/store/table/errors.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { ImportFileError } from '../files/import-errors.ts'
import type { ImportRun } from './entity.ts'

/** Requires that no external id was linked since the import began: the record might be a second one of its external id. */
export const requireLinks = (changes: Changeset, { linksVersion }: Pick<ImportRun, 'linksVersion'>): void =>
  changes.requireVersion(importLinksKey(changes.clinic), linksVersion === 0 ? null : linksVersion)

/** Runs a write of new records. @throws ImportFileError if external ids were linked since the import began */
export async function withSameLinks(
  table: Table,
  { clinic, linksVersion }: ImportRun,
  write: () => Promise<unknown>,
): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    if ((await readImportLinks(table, clinic.id)).version === linksVersion) throw error
    throw new ImportFileError(
      'External ids were linked while the import ran. What was written stays; import the file again.',
    )
  }
}
