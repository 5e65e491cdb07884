import { expect, it } from 'vitest'
import { RowCounts, shortIdIn } from '../../../../../shared/maintenance/verify/comparison/row-counts.ts'

const ids = Array.from({ length: 2000 }, (_, at) => `record-${at}`)

function counted() {
  const counts = new RowCounts()
  for (const id of ids) counts.expect(id)
  for (const id of ids.toReversed()) counts.find(id)
  return counts
}

it('has no suspects when every item that is there belongs to its record, in whatever order they are read', () => {
  const counts = counted()
  expect(counts.hasSuspects()).toBe(false)
  expect(ids.filter((id) => counts.isSuspect(id))).toEqual([])
})

it.each(['find', 'expect'] as const)(
  'suspects the record of an item that only %s has counted, and few others',
  (only) => {
    const counts = counted()
    counts[only]('record-7')
    expect([counts.hasSuspects(), counts.isSuspect('record-7')]).toEqual([true, true])
    expect(ids.filter((id) => counts.isSuspect(id)).length).toBeLessThan(5)
  },
)

it('finds the short id of a record at the end of a sort key', () => {
  expect(shortIdIn({ sk: 's#2026-05-01#09:00#abc' })).toBe('abc')
})
