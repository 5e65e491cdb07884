/** Tallies: for each list, one item a month with a counter for each day and facet, `17c` on the 17th for facet c. */
import type { DayTally } from '../domain/page-plan.ts'
import type { Table } from './table.ts'

/** Inclusive dates; undefined is open. */
export type TallyRange = { readonly from?: string | undefined; readonly to?: string | undefined }

const MOST_MONTHS = 100_000

export const tallyAttribute = (date: string, facet: string): string => `${date.slice(8)}${facet}`

/** The days of a list that have any records, newest first. */
export async function readTallies(table: Table, pk: string, { from, to }: TallyRange): Promise<DayTally[]> {
  const months = await table.query({
    pk,
    from: from?.slice(0, 7),
    to: to?.slice(0, 7),
    descending: true,
    limit: MOST_MONTHS,
  })
  return months
    .flatMap((month) => daysOf(month.sk, month))
    .filter(({ date }) => (from ?? '') <= date && date <= (to ?? '9999'))
}

/** The days of one month's item that have any records, newest first. */
export function daysOf(month: string, attributes: Record<string, unknown>): DayTally[] {
  const days = new Map<string, Map<string, number>>()
  for (const [name, count] of Object.entries(attributes)) {
    const [, day, facet] = /^(\d\d)(.)$/.exec(name) ?? []
    if (day === undefined || facet === undefined || !count) continue
    const counts = days.get(day) ?? new Map<string, number>()
    days.set(day, counts.set(facet, count as number))
  }
  return [...days]
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([day, counts]) => ({ date: `${month}-${day}`, counts }))
}
