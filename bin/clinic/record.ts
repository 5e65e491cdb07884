import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { RecordList } from '../../shared/store/calendar/calendar-list.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { commitWithRetry } from '../../shared/store/table/commit-packed.ts'
import type { Table } from '../../shared/store/table/table.ts'

/**
 * Changes one record with its rows and tallies, from a fresh read whenever somebody else was faster. Changing nothing
 * writes nothing. Null when there is no such record.
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
