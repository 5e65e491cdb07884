import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DayTally, planPage, type RangeRead } from '../../../../shared/domain/lists/page-plan.ts'
import { property } from '../../../support/scale.ts'

type Row = { date: string; facet: string; at: number }

const sortKey = ({ date, at }: Row): string => `${date}#${String(at).padStart(3, '0')}`

const newestFirst = (a: Row, b: Row): number => (sortKey(a) < sortKey(b) ? 1 : -1)

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

/** The rows that the store returns for a read. */
function read(rows: readonly Row[], { facet, from, to, newestFirst: down, limit }: RangeRead): Row[] {
  const range = rows.filter((row) => row.facet === facet && from <= row.date && row.date <= to)
  return (down ? range : range.reverse()).slice(0, limit)
}

describe('the reads of a page', () => {
  const MARCH = '2026-03-01'
  const FEBRUARY = '2026-02-01'
  const JANUARY = '2026-01-01'
  const days: DayTally[] = [
    { date: MARCH, counts: new Map([['a', 10]]) },
    {
      date: FEBRUARY,
      counts: new Map([
        ['a', 5],
        ['b', 3],
      ]),
    },
    { date: JANUARY, counts: new Map([['c', 4]]) },
  ]
  const newest = (facet: string, from: string, to: string, limit: number): RangeRead => ({
    facet,
    from,
    to,
    newestFirst: true,
    limit,
  })
  const oldest = (facet: string, date: string, limit: number): RangeRead => ({
    facet,
    from: date,
    to: date,
    newestFirst: false,
    limit,
  })

  it.each<[string, number, number, RangeRead[]]>([
    ['the first page', 0, 5, [newest('a', MARCH, MARCH, 5)]],
    ['a page that ends a day', 0, 10, [newest('a', MARCH, MARCH, 10)]],
    ['a page over two days', 0, 11, [newest('a', FEBRUARY, MARCH, 11), newest('b', FEBRUARY, MARCH, 3)]],
    ['a page in the middle of a day, from the newest end', 5, 2, [newest('a', MARCH, MARCH, 7)]],
    ['a page in the older half of a day, from the oldest end', 6, 2, [oldest('a', MARCH, 4)]],
    ['the last row of a day', 9, 1, [oldest('a', MARCH, 1)]],
    [
      'a page from the end of a day into the next',
      9,
      3,
      [newest('a', FEBRUARY, MARCH, 12), newest('b', FEBRUARY, FEBRUARY, 2)],
    ],
    [
      'a page from a new day',
      10,
      8,
      [newest('a', FEBRUARY, FEBRUARY, 5), newest('b', FEBRUARY, FEBRUARY, 3)],
    ],
    ['the last page, over its end', 18, 100, [newest('c', JANUARY, JANUARY, 4)]],
    ['a page past the end', 22, 5, []],
    ['a page far past the end', 1000, 5, []],
  ])('are exact for %s', (_, offset, limit, reads) => {
    const plan = planPage(days, offset, limit)
    expect(plan.total).toBe(22)
    expect(plan.reads).toEqual(reads)
  })

  it.each<[string, number, RangeRead[]]>([
    ['one read of a facet where that costs a unit less', 14, [newest('a', FEBRUARY, MARCH, 16)]],
    ['two reads that cost as much', 15, [oldest('a', MARCH, 1), newest('a', FEBRUARY, FEBRUARY, 2)]],
  ])('cross the end of a day in %s', (_, count, reads) => {
    const two: DayTally[] = [
      { date: MARCH, counts: new Map([['a', count]]) },
      { date: FEBRUARY, counts: new Map([['a', 2]]) },
    ]
    expect(planPage(two, count - 1, 3).reads).toEqual(reads)
  })

  it('are none for an empty list', () => {
    const plan = planPage([], 0, 20)
    expect(plan).toMatchObject({ total: 0, reads: [] })
    expect(plan.pageOf([], sortKey)).toEqual([])
  })
})

describe('planPage', () => {
  it('selects the same rows as a slice of the whole list', () => {
    fc.assert(
      fc.property(rowsArbitrary, fc.nat(70), fc.integer({ min: 1, max: 30 }), (rows, offset, limit) => {
        const plan = planPage(tallied(rows), offset, limit)
        const brought = plan.reads.map((reading) => read(rows, reading))
        expect(plan.total).toBe(rows.length)
        expect(plan.pageOf(brought, sortKey)).toEqual(rows.slice(offset, offset + limit))
        // A read never expects more rows than exist: the store takes fewer rows as a sign of a concurrent write.
        for (const [at, reading] of plan.reads.entries()) expect(brought[at]?.length).toBe(reading.limit)
      }),
      property(500, 100_000),
    )
  })

  it('selects an ordered page although records were added and removed after the tallies were read', () => {
    fc.assert(
      fc.property(
        rowsArbitrary,
        fc.func(fc.constantFrom('kept', 'kept', 'kept', 'added', 'removed')),
        fc.nat(70),
        fc.integer({ min: 1, max: 30 }),
        (rows, changeOf, offset, limit) => {
          const before = rows.filter((row) => changeOf(row) !== 'added')
          const after = rows.filter((row) => changeOf(row) !== 'removed')
          const plan = planPage(tallied(before), offset, limit)
          const page = plan.pageOf(
            plan.reads.map((reading) => read(after, reading)),
            sortKey,
          )
          expect(page).toEqual([...page].sort(newestFirst))
          expect(page.length).toBeLessThanOrEqual(limit)
        },
      ),
      property(500, 100_000),
    )
  })

  it('costs at most what half the rows of the first day cost in addition to the page', () => {
    fc.assert(
      fc.property(rowsArbitrary, fc.nat(70), fc.integer({ min: 1, max: 30 }), (rows, offset, limit) => {
        const facets = new Set(rows.map(({ facet }) => facet)).size
        const largestDay = Math.max(
          0,
          ...tallied(rows).map(({ counts }) => [...counts.values()].reduce((a, b) => a + b, 0)),
        )
        const units = (count: number) => Math.ceil(count / 16)
        const cost = planPage(tallied(rows), offset, limit).reads.reduce(
          (sum, reading) => sum + units(reading.limit),
          0,
        )
        expect(cost).toBeLessThanOrEqual(facets * (units(Math.ceil(largestDay / 2)) + units(limit)))
      }),
      property(300, 20_000),
    )
  })
})
