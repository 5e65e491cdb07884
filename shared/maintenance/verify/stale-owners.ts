import { copiedNames } from '../../store/copies/copied-names.ts'
import { dueRefreshes } from '../../store/copies/due-refreshes.ts'
import {
  DUE_REFRESH_PARTITIONS,
  type DueRefresh,
  dueRefreshKey,
  parseDueRefreshKey,
  staleCopiesKey,
  staleCopiesPartition,
} from '../../store/keys/copies.ts'
import { dueUntil } from '../../store/keys/due.ts'
import { forEachConcurrent } from '../walk/for-each-concurrent.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import type { Recheck } from './comparison/difference.ts'
import type { Inspection } from './comparison/inspection.ts'

/** A change of name refreshes its copies immediately, so a mark of this age belongs to an interrupted run. */
const GRACE_PERIOD_MS = 5_000

/** The sweep, which runs every minute, has removed a due item of this age if it could. */
const SWEEP_MS = 10 * 60_000

/**
 * Reports owners of copied names whose refresh was interrupted, and due items of the sweep that have no mark. Starts first
 * and ends last, so that running refreshes can finish.
 */
export async function staleOwnerChecker(
  { table, clinic, count, examine }: Inspection,
  gracePeriodMs = GRACE_PERIOD_MS,
) {
  const startedAt = performance.now()
  const { refresh } = copiedNames(table)
  const { isSuperseded, removeSuperseded } = dueRefreshes({ table })
  const staleOwners: { owner: string; version: unknown }[] = []
  for await (const page of partitionPages(table, staleCopiesPartition(clinic))) {
    staleOwners.push(...page.map(({ sk, v }) => ({ owner: sk, version: v })))
  }

  async function check(): Promise<void> {
    count('stale_owners', staleOwners.length)
    for (const pk of DUE_REFRESH_PARTITIONS) {
      for await (const page of partitionPages(table, pk, { to: dueUntil(table.now() - SWEEP_MS) })) {
        const own = page.map(parseDueRefreshKey).filter((due) => due.clinic === clinic)
        await forEachConcurrent(own, (due) => examine(recheckDue(due)))
      }
    }
    if (staleOwners.length === 0) return
    await new Promise((resolve) =>
      setTimeout(resolve, Math.max(0, startedAt + gracePeriodMs - performance.now())),
    )
    await forEachConcurrent(staleOwners, ({ owner, version }) => examine(recheckMark(owner, version)))
  }

  const recheckMark = (owner: string, version: unknown): Recheck => {
    const key = staleCopiesKey(clinic, owner)
    return async () => {
      const mark = await table.get(key)
      // A mark of another version belongs to a later change, which is still being processed.
      if (!mark || mark.v !== version) return null
      const dueItem =
        mark.at !== undefined && (await table.get(dueRefreshKey({ clinic, owner, at: mark.at as number })))
      return {
        differences: [{ kind: dueItem ? 'refresh_interrupted' : 'refresh_unscheduled', key }],
        repair: () => refresh(clinic, owner),
      }
    }
  }

  const recheckDue = (due: DueRefresh): Recheck => {
    const key = dueRefreshKey(due)
    return async () => {
      if (!(await table.get(key)) || !(await isSuperseded(due))) return null
      return { differences: [{ kind: 'refresh_stray', key }], repair: () => removeSuperseded(due) }
    }
  }

  return { check }
}
