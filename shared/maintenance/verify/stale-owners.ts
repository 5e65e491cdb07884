import { setTimeout as delay } from 'node:timers/promises'
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
import type { Item } from '../../store/table/write-requests.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import { type Finding, findingOf, type Inspection } from './comparison/inspection.ts'
import type { Snapshot } from './comparison/snapshot.ts'

/** A change of name refreshes its copies immediately, so a mark of this age belongs to an interrupted run. */
const GRACE_PERIOD_MS = 5_000

/** The sweep, which runs every minute, has removed a due item of this age if it could. */
const SWEEP_MS = 10 * 60_000

/** Reports owners of copied names whose refresh was interrupted, and due items of the sweep that have no mark. */
export async function checkStaleOwners(
  { table, clinic, count, examineAll }: Inspection,
  gracePeriodMs = GRACE_PERIOD_MS,
): Promise<void> {
  const { refresh } = copiedNames(table)
  const { isSuperseded, removeSuperseded } = dueRefreshes({ table })
  const marks: Item[] = []
  for await (const page of partitionPages(table, staleCopiesPartition(clinic))) marks.push(...page)
  count('stale_owners', marks.length)
  for (const pk of DUE_REFRESH_PARTITIONS)
    for await (const page of partitionPages(table, pk, { to: dueUntil(table.now() - SWEEP_MS) }))
      await examineAll(
        page.map(parseDueRefreshKey).filter((due) => due.clinic === clinic),
        recheckDue,
      )
  if (marks.length === 0) return
  // Refreshes that run now can finish.
  await delay(gracePeriodMs)
  await examineAll(marks, recheckMark)

  async function recheckDue(due: DueRefresh, read: Snapshot): Promise<Finding | null> {
    const key = dueRefreshKey(due)
    if (!(await read.get(key)) || !(await isSuperseded(due))) return null
    return findingOf('refresh_stray', key, () => removeSuperseded(due))
  }

  async function recheckMark({ sk: owner, at }: Item, read: Snapshot): Promise<Finding | null> {
    const key = staleCopiesKey(clinic, owner)
    const mark = await read.get(key)
    // A mark of another time belongs to a later change, which is still being processed. Its version may be the same.
    if (!mark || mark.at !== at) return null
    const dueItem = at !== undefined && (await read.get(dueRefreshKey({ clinic, owner, at: at as number })))
    const kind = dueItem ? 'refresh_interrupted' : 'refresh_unscheduled'
    return findingOf(kind, key, () => refresh(clinic, owner))
  }
}
