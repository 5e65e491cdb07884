import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { Stamped } from '../../shared/domain/stamped.ts'
import type { RecordList } from '../../shared/store/calendar/calendar-list.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { commitWithRetry } from '../../shared/store/table/commit-packed.ts'
import { isSameRecord } from '../../shared/store/table/stamped-codec.ts'
import type { Table } from '../../shared/store/table/table.ts'

/**
 * Updates one record with its rows and tallies, and retries with a fresh read on conflict. `update` can add conditions to the
 * transaction. Writes nothing if nothing changes. Returns null if the record does not exist.
 */
export async function changeRecord<R>(
  table: Table,
  list: RecordList<R>,
  clinic: ClinicId,
  id: string,
  update: (before: R, changes: Changeset) => Promise<R>,
): Promise<Stamped<R> | null> {
  let current: Stamped<R> | null = null
  await commitWithRetry(async () => {
    const stored = await list.find(clinic, id.toLowerCase())
    current = stored?.record ?? null
    if (!stored) return null
    const changes = new Changeset(table, clinic)
    const after = await update(stored.record, changes)
    if (isSameRecord(stored.record, after)) return null
    current = list.change(changes, stored, after)
    return changes
  })
  return current
}
