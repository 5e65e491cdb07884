import { copiedNames } from '../../../shared/store/copies/copied-names.ts'
import { staleCopiesKey, staleCopiesPartition } from '../../../shared/store/keys/copies.ts'
import { forEachConcurrent } from './for-each-concurrent.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'

/** A change of name refreshes its copies immediately, so a mark of this age belongs to an interrupted run. */
const GRACE_PERIOD_MS = 5_000

/** Reports owners of copied names whose refresh was interrupted. Starts first and ends last, so that running refreshes can finish. */
export async function staleOwnerChecker(
  { table, clinic, count, examine }: Inspection,
  gracePeriodMs = GRACE_PERIOD_MS,
) {
  const startedAt = performance.now()
  const staleOwners: { owner: string; version: unknown }[] = []
  for await (const page of partitionPages(table, staleCopiesPartition(clinic))) {
    staleOwners.push(...page.map(({ sk, v }) => ({ owner: sk, version: v })))
  }

  async function check(): Promise<void> {
    count('stale_owners', staleOwners.length)
    if (staleOwners.length === 0) return
    await new Promise((resolve) =>
      setTimeout(resolve, Math.max(0, startedAt + gracePeriodMs - performance.now())),
    )
    const { refresh } = copiedNames(table)
    await forEachConcurrent(staleOwners, ({ owner, version }) =>
      examine(async () => {
        const key = staleCopiesKey(clinic, owner)
        const marker = await table.get(key)
        // A mark of another version belongs to a later change, which is still being processed.
        if (!marker || marker.v !== version) return null
        return { faults: [{ kind: 'refresh_interrupted', key }], repair: () => refresh(clinic, owner) }
      }),
    )
  }

  return { check }
}
