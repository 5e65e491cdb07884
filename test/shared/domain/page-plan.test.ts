import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DayTally, planPage, type RangeRead } from '../../../shared/domain/page-plan.ts'
import { property } from '../../support/scale.ts'

type Row = { date: string; facet: string; at: number }

const newestFirst = (a: Row, b: Row): number =>
  a.date < b.date || (a.date === b.date && a.at < b.at) ? 1 : -1

const rowsArbitrary = fc
  .array(
    fc.record({
      date: fc.constantFrom('2026-01-01', '2026-01-02', '2026-02-01', '2027-01-01'),
      facet: fc.constantFrom('a', 'b', 'c'),
    }),
    { maxLength: 60 },
  )
  .map((rows) => rows.map((row, at): Row => ({ ...row, at })).sort(newestFirst))

function tallied(rows: readonly Row[]): DayTally[] {
  const days = new Map<string, Map<string, number>>()
  for (const { date, facet } of rows) {
    const counts = days.get(date) ?? new Map<string, number>()
    days.set(date, counts.set(facet, (counts.get(facet) ?? 0) + 1))
  }
  return [...days].map(([date, counts]) => ({ date, counts }))
}

/** What the store would bring, and no more than that. */
function read(rows: readonly Row[], { facet, from, to, newestFirst: down, limit }: RangeRead): Row[] {
  const range = rows.filter((row) => row.facet === facet && from <= row.date && row.date <= to)
  return (down ? range : range.reverse()).slice(0, limit)
}

describe('planPage', () => {
  it('cuts every page as slicing the whole list would', () => {
    fc.assert(
      fc.property(rowsArbitrary, fc.nat(70), fc.integer({ min: 1, max: 30 }), (rows, offset, limit) => {
        const plan = planPage(tallied(rows), offset, limit)
        const brought = plan.reads.map((reading) => read(rows, reading))
        expect(plan.total).toBe(rows.length)
        expect(plan.pageOf(brought, newestFirst)).toEqual(rows.slice(offset, offset + limit))
        // Never asks for more than there is: fewer rows than the limit mean a concurrent write.
        for (const [at, reading] of plan.reads.entries()) expect(brought[at]?.length).toBe(reading.limit)
      }),
      property(2_000, 100_000),
    )
  })

  it('reads at most half the landing day beside each facet’s share of the page', () => {
    fc.assert(
      fc.property(rowsArbitrary, fc.nat(70), fc.integer({ min: 1, max: 30 }), (rows, offset, limit) => {
        const facets = new Set(rows.map(({ facet }) => facet)).size
        const largestDay = Math.max(
          0,
          ...tallied(rows).map(({ counts }) => [...counts.values()].reduce((a, b) => a + b, 0)),
        )
        const asked = planPage(tallied(rows), offset, limit).reads.reduce(
          (sum, reading) => sum + reading.limit,
          0,
        )
        expect(asked).toBeLessThanOrEqual(facets * (Math.ceil(largestDay / 2) + limit))
      }),
      property(1_000, 20_000),
    )
  })
})
