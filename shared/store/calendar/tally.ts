/**
 * Tallies: each list has one item a month, with a counter for each day and facet. A counter's name is two characters, the
 * day as a digit of base 32 and the facet (`Hc` is the 17th, facet c). Names are short because a page reads the items of
 * all months.
 */
import type { DayTally } from '../../domain/lists/page-plan.ts'
import { dirtyMarkerKey, tallyKey, tallyMonth, tallyMonthEnd, tallyShardKey } from '../keys/calendar.ts'
import type { ShardedCounter } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'

/** Inclusive dates; undefined is open. */
export type TallyRange = { readonly from?: string | undefined; readonly to?: string | undefined }

const MAX_MONTHS = 100_000

/** A day's digit and a facet. */
const TALLY_ATTRIBUTE = /^([1-9A-V])(.)$/

const DAY_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUV'

export const tallyAttribute = (date: string, facet: string): string =>
  `${DAY_DIGITS.charAt(Number(date.slice(8)))}${facet}`

/** One month's counters of a list, with their shards. */
export const tallyCounter = (pk: string, month: string): ShardedCounter => ({
  key: tallyKey(pk, month),
  shard: (index) => {
    const key = tallyShardKey(pk, month, index)
    return { key, dirtyMarker: dirtyMarkerKey(key) }
  },
})

/** The version of each month's counters, shards included: it changes whenever one of them is added to. */
export type TallyVersions = ReadonlyMap<string, string>

/** The days of a list that have any records, newest first, and the versions of their months. */
export async function readTallies(
  table: Table,
  pk: string,
  { from, to }: TallyRange,
): Promise<{ days: DayTally[]; versions: TallyVersions }> {
  const items = await table.query({
    pk,
    from: from?.slice(0, 7),
    to: to && tallyMonthEnd(to.slice(0, 7)),
    descending: true,
    limit: MAX_MONTHS,
  })
  const months = [...Map.groupBy(items, tallyMonth)]
  const days = months
    .flatMap(([month, parts]) => toDayTallies(month, parts.length === 1 ? (parts[0] as Item) : summed(parts)))
    .filter(({ date }) => (from ?? '') <= date && (to === undefined || date <= to))
  const versions = months.map(([month, parts]): [string, string] => [
    month,
    parts.map(({ sk, v }) => `${sk}=${v}`).join(),
  ])
  return { days, versions: new Map(versions) }
}

/** The counters of a month's item and its shards together. */
export function summed(items: readonly Record<string, unknown>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const item of items) {
    for (const [name, count] of Object.entries(item))
      if (TALLY_ATTRIBUTE.test(name)) sums[name] = (sums[name] ?? 0) + (count as number)
  }
  return sums
}

/** The days of one month's item that have any records, newest first. */
export function toDayTallies(month: string, attributes: Record<string, unknown>): DayTally[] {
  const days = new Map<string, Map<string, number>>()
  for (const [name, count] of Object.entries(attributes)) {
    const [, digit, facet] = TALLY_ATTRIBUTE.exec(name) ?? []
    if (digit === undefined || facet === undefined || !count) continue
    const day = String(DAY_DIGITS.indexOf(digit)).padStart(2, '0')
    const counts = days.get(day) ?? new Map<string, number>()
    days.set(day, counts.set(facet, count as number))
  }
  return [...days]
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([day, counts]) => ({ date: `${month}-${day}`, counts }))
}
