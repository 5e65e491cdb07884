import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { importEventDraft } from '../../../shared/domain/event.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import { ConditionFailed } from '../../../shared/store/table/errors.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { Counts } from './batch-outcomes.ts'
import { retryPatiently } from './retry-patiently.ts'

/** Announces that a file was imported, whether or not its changes were announced. Its record is the import itself. */
export function announceImport(
  table: Table,
  clinic: ClinicId,
  entity: string,
  counts: Counts,
): Promise<void> {
  const run = table.newId()
  return retryPatiently(
    async () => {
      const changes = new Changeset(table, clinic)
      changes.announce(run, 1, importEventDraft(entity, counts))
      try {
        await changes.commit()
      } catch (error) {
        // An earlier attempt was committed, and its response was lost.
        if (!(error instanceof ConditionFailed)) throw error
      }
    },
    () => {},
  )
}
