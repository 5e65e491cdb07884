import { expect, it } from 'vitest'
import { KeySums, shortIdIn } from '../../../../../shared/maintenance/verify/comparison/key-sums.ts'

const ids = Array.from({ length: 2000 }, (_, at) => `record-${at}`)

function counted() {
  const counts = new KeySums()
  for (const id of ids) counts.expect(id, `row of ${id}`)
  for (const id of ids.toReversed()) counts.find(id, `row of ${id}`)
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
    counts[only]('record-7', 'another row')
    expect([counts.hasSuspects(), counts.isSuspect('record-7')]).toEqual([true, true])
    expect(ids.filter((id) => counts.isSuspect(id)).length).toBeLessThan(5)
  },
)

it('suspects a record with one item that is gone and one that belongs to none', () => {
  const counts = counted()
  counts.expect('record-7', 'a row before a move')
  counts.find('record-7', 'an extra row')
  expect(counts.isSuspect('record-7')).toBe(true)
})

it('finds the short id of a record at the end of a sort key', () => {
  expect(shortIdIn({ sk: 's#2026-05-01#09:00#abc' })).toBe('abc')
})
