/**
 * Tallies: each list has one item a month, with a counter for each day and facet. A counter's name is two characters, the
 * day as a digit of base 32 and the facet (`Hc` is the 17th, facet c). Names are short because a page reads the items of
 * all months.
 */
import type { DayTally } from '../../domain/lists/page-plan.ts'
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

/** The version of each month's item: it changes whenever one of its counters is added to. */
export type TallyVersions = ReadonlyMap<string, number>

/** The days of a list that have any records, newest first, and the versions of their months. */
export async function readTallies(
  table: Table,
  pk: string,
  { from, to }: TallyRange,
): Promise<{ days: DayTally[]; versions: TallyVersions }> {
  const items = await table.query({
    pk,
    from: from?.slice(0, 7),
    to: to?.slice(0, 7),
    descending: true,
    limit: MAX_MONTHS,
  })
  const days = items
    .flatMap((item) => toDayTallies(item.sk, item))
    .filter(({ date }) => (from ?? '') <= date && (to === undefined || date <= to))
  return { days, versions: new Map(items.map(({ sk, v }) => [sk, v ?? 0])) }
}

export const countersOf = (item: Item): [name: string, count: number][] =>
  Object.entries(item).filter((entry): entry is [string, number] => TALLY_ATTRIBUTE.test(entry[0]))

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
