import {
  DUE_REFRESH_PARTITIONS,
  type DueRefresh,
  dueRefreshKey,
  parseDueRefreshKey,
  staleCopiesKey,
} from '../keys/copies.ts'
import { readDue } from '../table/read-due.ts'
import { withScope } from '../table/request-scope.ts'
import type { Table } from '../table/table.ts'
import { copiedNames } from './copied-names.ts'

/** Refreshes of copies that a timeout or a crash has interrupted, over all clinics, as the sweep reads and finishes them. */
export function dueRefreshes({ table }: { table: Table }) {
  const { refresh } = copiedNames(table)

  /** The owners that are due by `until`, in batches of at most `size` from each partition, earliest first. */
  const dueBatches = (until: number, size: number) =>
    readDue(table, DUE_REFRESH_PARTITIONS, parseDueRefreshKey, { until, size })

  /**
   * Refreshes the copies of an owner, and removes its due item. Ends when `signal` aborts: the records that were refreshed
   * by then stay so, and the next sweep continues.
   */
  async function finish(due: DueRefresh, signal: AbortSignal): Promise<void> {
    try {
      await withScope({ signal }, async () => {
        await refresh(due.clinic, due.owner)
        await removeSuperseded(due)
      })
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /**
   * Removes the due item of a mark that is gone, or that a later change has set again and that has a later due item. No mark
   * can still get this time: due items are older than any transaction that is still attempted.
   */
  async function removeSuperseded(due: DueRefresh): Promise<void> {
    if (await isSuperseded(due)) await table.transact([table.deleteWrite(dueRefreshKey(due))])
  }

  /** Whether the owner has no mark that was written with this due item. */
  const isSuperseded = async ({ clinic, owner, at }: DueRefresh): Promise<boolean> =>
    (await table.get(staleCopiesKey(clinic, owner)))?.at !== at

  return { dueBatches, finish, isSuperseded, removeSuperseded }
}
