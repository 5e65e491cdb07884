/**
 * Tallies: for each list, one item a month with a counter for each day and facet. A counter's name is two characters,
 * the day as a digit of base 32 and the facet (`Hc` is the 17th, facet c): a page reads every month's item, so names are
 * what it pays for.
 */
import type { DayTally } from '../../domain/page-plan.ts'
import type { Table } from '../table/table.ts'

/** Inclusive dates; undefined is open. */
export type TallyRange = { readonly from?: string | undefined; readonly to?: string | undefined }

const MAX_MONTHS = 100_000

const DAY_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUV'

export const tallyAttribute = (date: string, facet: string): string =>
  `${DAY_DIGITS.charAt(Number(date.slice(8)))}${facet}`

/** The days of a list that have any records, newest first. */
export async function readTallies(table: Table, pk: string, { from, to }: TallyRange): Promise<DayTally[]> {
  const months = await table.query({
    pk,
    from: from?.slice(0, 7),
    to: to?.slice(0, 7),
    descending: true,
    limit: MAX_MONTHS,
  })
  return months
    .flatMap((month) => toDayTallies(month.sk, month))
    .filter(({ date }) => (from ?? '') <= date && date <= (to ?? '9999'))
}

/** The days of one month's item that have any records, newest first. */
export function toDayTallies(month: string, attributes: Record<string, unknown>): DayTally[] {
  const days = new Map<string, Map<string, number>>()
  for (const [name, count] of Object.entries(attributes)) {
    const [, digit, facet] = /^([1-9A-V])(.)$/.exec(name) ?? []
    if (digit === undefined || facet === undefined || !count) continue
    const day = String(DAY_DIGITS.indexOf(digit)).padStart(2, '0')
    const counts = days.get(day) ?? new Map<string, number>()
    days.set(day, counts.set(facet, count as number))
  }
  return [...days]
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([day, counts]) => ({ date: `${month}-${day}`, counts }))
}
