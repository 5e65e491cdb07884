import { OVERFLOW_PARTITIONS, parseOverflowMark, tallyKey, tallyMonth } from '../keys/calendar.ts'
import { ConditionFailed, WriteConflict } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import { summed } from './tally.ts'

/** An overflow item is folded back when no writer has added to it for this long. */
const QUIET_MS = 60_000

/** Marks that one sweep reads from each partition. */
const MAX_PER_PARTITION = 200

/** Folds the overflow items of tallies back into their months once writers no longer collide. */
export function tallyFolding({ table, now }: { table: Table; now: () => number }) {
  /**
   * Folds every overflow item that is quiet; returns how many. An item that a writer changes meanwhile is left to the next sweep.
   * @param reportLag called with the milliseconds for which the oldest of them has been quiet for long enough, 0 if none has
   */
  async function foldQuiet(reportLag: (ms: number) => void = () => {}): Promise<number> {
    const reads = OVERFLOW_PARTITIONS.map((pk) => table.query({ pk, limit: MAX_PER_PARTITION }))
    const marks = (await Promise.all(reads)).flat()
    const quiet = marks.filter(({ at }) => (at as number) <= now() - QUIET_MS)
    reportLag(Math.max(0, ...quiet.map(({ at }) => now() - QUIET_MS - (at as number))))
    let folded = 0
    for (const mark of quiet) if (await fold(mark)) folded++
    return folded
  }

  async function fold(mark: Item): Promise<boolean> {
    const key = parseOverflowMark(mark)
    const overflow = await table.get(key)
    try {
      await table.tryTransact([
        table.deleteWrite(mark, { attribute: 'at', equals: mark.at }),
        ...(overflow ? moveCounts(overflow) : []),
      ])
      return true
    } catch (error) {
      if (error instanceof ConditionFailed || error instanceof WriteConflict) return false
      throw error
    }
  }

  function moveCounts(overflow: Item) {
    const counts = Object.entries(summed([overflow])).filter(([, count]) => count !== 0)
    return [
      table.deleteWrite(overflow, overflow.v as number),
      table.updateWrite(tallyKey(overflow.pk, tallyMonth(overflow)), {
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

  return { foldQuiet }
}
