import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { RecordList } from '../../shared/store/calendar/calendar-list.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { commitWithRetry } from '../../shared/store/table/commit-packed.ts'
import type { Table } from '../../shared/store/table/table.ts'

/**
 * Updates one record with its rows and tallies, and retries with a fresh read on conflict. Writes nothing if nothing
 * changes. Returns null if the record does not exist.
 */
export async function changeRecord<R>(
  table: Table,
  list: RecordList<R>,
  clinic: ClinicId,
  id: string,
  update: (before: R) => Promise<R>,
): Promise<R | null> {
  let after: R | null = null
  await commitWithRetry(async () => {
    const stored = await list.find(clinic, id.toLowerCase())
    after = stored && (await update(stored.record))
    if (!stored || !after || isDeepStrictEqual(stored.record, after)) return null
    const changes = new Changeset(table, clinic)
    list.change(changes, stored, after)
    return changes
  })
  return after
}
