import { DIRTY_PARTITIONS, parseDirtyMarker, tallyKey, tallyMonth } from '../keys/calendar.ts'
import { ConditionFailed, WriteConflict } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import { summed } from './tally.ts'

/** A shard is merged when no writer has added to it for this long. */
const QUIET_MS = 60_000

/** Markers that one sweep reads from each partition. */
const MAX_PER_PARTITION = 200

/** Merges the shards of tallies into their months once writers no longer collide. */
export function tallyMerging({ table, now }: { table: Table; now: () => number }) {
  /**
   * Merges every quiet shard; returns how many. A shard that a writer changes at the same time is left to the next sweep.
   * @param reportLag called with the milliseconds for which the oldest of them has been quiet for long enough, 0 if none has
   */
  async function mergeQuiet(reportLag: (ms: number) => void = () => {}): Promise<number> {
    const reads = DIRTY_PARTITIONS.map((pk) => table.query({ pk, limit: MAX_PER_PARTITION }))
    const markers = (await Promise.all(reads)).flat()
    const quiet = markers.filter(({ at }) => (at as number) <= now() - QUIET_MS)
    reportLag(Math.max(0, ...quiet.map(({ at }) => now() - QUIET_MS - (at as number))))
    let merged = 0
    for (const marker of quiet) if (await merge(marker)) merged++
    return merged
  }

  async function merge(marker: Item): Promise<boolean> {
    const key = parseDirtyMarker(marker)
    const shard = await table.get(key)
    try {
      await table.tryTransact([
        table.deleteWrite(marker, { attribute: 'at', equals: marker.at }),
        ...(shard ? moveCounts(shard) : []),
      ])
      return true
    } catch (error) {
      if (error instanceof ConditionFailed || error instanceof WriteConflict) return false
      throw error
    }
  }

  function moveCounts(shard: Item) {
    const counts = Object.entries(summed([shard])).filter(([, count]) => count !== 0)
    return [
      table.deleteWrite(shard, shard.v as number),
      table.updateWrite(tallyKey(shard.pk, tallyMonth(shard)), {
        UpdateExpression: `ADD ${['#v :one', ...counts.map((_, index) => `#${index} :${index}`)].join(', ')}`,
        ExpressionAttributeNames: {
          '#v': 'v',
          ...Object.fromEntries(counts.map(([name], index) => [`#${index}`, name])),
        },
        ExpressionAttributeValues: {
          ':one': 1,
          ...Object.fromEntries(counts.map(([, count], index) => [`:${index}`, count])),
        },
      }),
    ]
  }

  return { mergeQuiet }
}
