/**
 * How to read one page of a list that is kept by facet (say, status) and ordered by day, newest first, when all that is
 * known is how many records each day has of each facet. Pure arithmetic: the store runs the readings.
 */

/** A day with any records of the asked facets: its count for each facet. */
export type DayTally = { readonly date: string; readonly counts: ReadonlyMap<string, number> }

/** One range of one facet to read, from its newest or its oldest end. */
export type RangeRead = {
  readonly facet: string
  /** Inclusive days. */
  readonly from: string
  readonly to: string
  readonly newestFirst: boolean
  /** Exactly as many records as the tallies promise there are, or as the page can need. */
  readonly limit: number
}

export type PagePlan = {
  readonly total: number
  readonly reads: readonly RangeRead[]
  /** Cuts the page out of what the readings brought, each list of rows sorted newest first. */
  readonly pageOf: <T>(rows: readonly T[][], newestFirst: (a: T, b: T) => number) => T[]
}

const dayCount = (day: DayTally): number => [...day.counts.values()].reduce((sum, count) => sum + count, 0)

/**
 * Plans the page at `offset`. `days` are newest first. Inside the landing day the rows before the page are skipped from
 * whichever end is nearer, so that a page costs at most half a day's rows beside its own.
 */
export function planPage(days: readonly DayTally[], offset: number, limit: number): PagePlan {
  const total = days.reduce((sum, day) => sum + dayCount(day), 0)
  const wanted = Math.min(limit, total - offset)
  if (wanted <= 0) return { total, reads: [], pageOf: () => [] }
  const { index, skip } = locateOffset(days, offset)
  const day = days[index] as DayTally
  const left = dayCount(day) - skip
  if (skip <= left) {
    const reads = newestReads(days, index, skip + wanted)
    return {
      total,
      reads,
      pageOf: (rows, newestFirst) =>
        rows
          .flat()
          .sort(newestFirst)
          .slice(skip, skip + wanted),
    }
  }
  const up = oldestReads(day, left)
  const down = wanted > left ? newestReads(days, index + 1, wanted - left) : []
  return {
    total,
    reads: [...up, ...down],
    pageOf: (rows, newestFirst) => {
      const fromBelow = rows.slice(0, up.length).flat().sort(newestFirst).slice(-left)
      const below = rows.slice(up.length).flat().sort(newestFirst)
      return [...fromBelow, ...below].slice(0, wanted)
    },
  }
}

/** The day that the record at `offset` is on, and how many of that day come before it. */
function locateOffset(days: readonly DayTally[], offset: number): { index: number; skip: number } {
  let skip = offset
  for (const [index, day] of days.entries()) {
    const count = dayCount(day)
    if (skip < count) return { index, skip }
    skip -= count
  }
  throw new RangeError('the offset is past the last record')
}

/** The newest `need` records from a day on: every facet to the day where all facets together have enough. */
function newestReads(days: readonly DayTally[], first: number, need: number): RangeRead[] {
  const available = new Map<string, number>()
  let last = first
  for (let covered = 0; covered < need; last++) {
    const day = days[last] as DayTally
    covered += dayCount(day)
    for (const [facet, count] of day.counts) available.set(facet, (available.get(facet) ?? 0) + count)
  }
  const from = (days[last - 1] as DayTally).date
  const to = (days[first] as DayTally).date
  return [...available].map(([facet, count]) => ({
    facet,
    from,
    to,
    newestFirst: true,
    limit: Math.min(need, count),
  }))
}

/** The oldest `need` records of one day. */
const oldestReads = ({ date, counts }: DayTally, need: number): RangeRead[] =>
  [...counts].map(([facet, count]) => ({
    facet,
    from: date,
    to: date,
    newestFirst: false,
    limit: Math.min(need, count),
  }))
