/** Patients whose external id comes from a link: it changes without a change of the patient, which nothing indexes. */
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { everLinkedIds, readImportLinks } from '../../../shared/store/import-links.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { LARGE_SOURCES } from './sources.ts'
import type { Staging } from './staging.ts'

/**
 * Reads the patients again who are linked to an external id, or were. Returns how many rows are different, and the version of the
 * links that the rows have at least.
 */
export async function rereadLinkedPatients(
  table: Table,
  clinic: ClinicId,
  staging: Staging,
): Promise<{ readonly changed: number; readonly version: number }> {
  const { version } = await readImportLinks(table, clinic)
  const ids = await everLinkedIds(table, clinic)
  let changed = 0
  for (const { entity, keyOf, row } of LARGE_SOURCES.filter(({ kind }) => kind === 'P')) {
    const items = await table.getMany(ids.map((id) => keyOf(clinic, id)))
    changed += staging.put(entity, items.map(row), 'linked patients', String(version))
  }
  return { changed, version }
}
