/**
 * Plans the reads for one page of a list that is stored by facet (for example status) and ordered by day, newest first.
 * The plan needs only the number of records of each day and facet; the store executes the reads.
 */

/** The number of records of a day, by facet. */
export type DayTally = { readonly date: string; readonly counts: ReadonlyMap<string, number> }

/** One read of a range of one facet, starting from its newest or its oldest record. */
export type RangeRead = {
  readonly facet: string
  /** First and last day, inclusive. */
  readonly from: string
  readonly to: string
  readonly newestFirst: boolean
  /** The number of records that exist according to the tallies, or that the page can need if that is less. */
  readonly limit: number
}

export type PagePlan = {
  readonly total: number
  readonly reads: readonly RangeRead[]
  /**
   * Selects the page from the rows of each read. `sortKey` orders rows and begins with their day. Rows that concurrent
   * writes added or removed since the tallies were read can shift the page, but it is always ordered.
   */
  readonly pageOf: <T>(rows: readonly T[][], sortKey: (row: T) => string) => T[]
}

/** Rows that one read unit of 4 KB pays for. A read costs at least one unit. */
const ROWS_PER_UNIT = 16

const units = (rows: number): number => Math.ceil(rows / ROWS_PER_UNIT)

const dayCount = (day: DayTally): number => [...day.counts.values()].reduce((sum, count) => sum + count, 0)

export const rowCount = (days: readonly DayTally[]): number =>
  days.reduce((sum, day) => sum + dayCount(day), 0)

/**
 * Plans the page at `offset`; `days` are newest first. On the day where the page starts, rows are skipped from the nearer
 * end, so a page costs no more than half the rows of that day in addition to its own.
 */
export function planPage(days: readonly DayTally[], offset: number, limit: number): PagePlan {
  const total = rowCount(days)
  const wanted = Math.min(limit, total - offset)
  if (wanted <= 0) return { total, reads: [], pageOf: () => [] }
  const { index, day, skip } = locateOffset(days, offset)
  const left = dayCount(day) - skip
  if (skip <= left) {
    const reads = newestReads(days, index, skip + wanted)
    return {
      total,
      reads,
      pageOf: (rows, sortKey) => newestFirst(rows.flat(), sortKey).slice(skip, skip + wanted),
    }
  }
  const below = wanted > left ? newestReads(days, index + 1, wanted - left) : []
  return {
    total,
    reads: oldestReads(day, left, below),
    pageOf: (rows, sortKey) => {
      const sorted = newestFirst(rows.flat(), sortKey)
      const ofDay = sorted.filter((row) => sortKey(row).startsWith(day.date))
      return [...ofDay.slice(-left), ...sorted.slice(ofDay.length)].slice(0, wanted)
    },
  }
}

/**
 * Plans the next `need` records after a cursor on `date`; `days` are in the order of the list, none of them before it. Returns the facets
 * to read, the last day to read (undefined if there is none), and whether there are days after it.
 */
export function planFromCursor(days: readonly DayTally[], date: string, need: number) {
  let covered = 0
  let read = 0
  for (const day of days) {
    if (covered >= need) break
    read++
    // How many records of the first day are behind the cursor is unknown.
    if (day.date !== date) covered += dayCount(day)
  }
  const facets = new Set(days.slice(0, read).flatMap(({ counts }) => [...counts.keys()]))
  return { until: days[read - 1]?.date, facets: [...facets], hasMore: read < days.length }
}

const newestFirst = <T>(rows: T[], sortKey: (row: T) => string): T[] =>
  rows.sort((a, b) => (sortKey(a) < sortKey(b) ? 1 : -1))

/** The day of the record at `offset`, with its index, and the number of records of that day before it. */
function locateOffset(days: readonly DayTally[], offset: number) {
  let skip = offset
  for (const [index, day] of days.entries()) {
    const count = dayCount(day)
    if (skip < count) return { index, day, skip }
    skip -= count
  }
  throw new RangeError('the offset is past the last record')
}

/** Reads of the newest `need` records from a day on: each facet down to the day where all facets together have enough. */
function newestReads(days: readonly DayTally[], first: number, need: number): RangeRead[] {
  const available = new Map<string, number>()
  let covered = 0
  let from = ''
  for (const day of days.slice(first)) {
    if (covered >= need) break
    covered += dayCount(day)
    from = day.date
    for (const [facet, count] of day.counts) available.set(facet, (available.get(facet) ?? 0) + count)
  }
  const to = days[first]?.date ?? ''
  return [...available].map(([facet, count]) => ({
    facet,
    from,
    to,
    newestFirst: true,
    limit: Math.min(need, count),
  }))
}

/** Reads of the oldest `need` records of a day, and `below`: of each facet in one read where that costs less than two. */
function oldestReads({ date, counts }: DayTally, need: number, below: readonly RangeRead[]): RangeRead[] {
  const separate = new Map(below.map((read) => [read.facet, read]))
  const reads = [...counts].map(([facet, count]): RangeRead => {
    const limit = Math.min(need, count)
    const next = separate.get(facet)
    if (!next || units(count + next.limit) >= units(limit) + units(next.limit))
      return { facet, from: date, to: date, newestFirst: false, limit }
    separate.delete(facet)
    return { ...next, to: date, limit: count + next.limit }
  })
  return [...reads, ...separate.values()]
}
