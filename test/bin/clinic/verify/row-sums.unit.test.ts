import { expect, it } from 'vitest'
import { digestOfText } from '../../../../bin/clinic/verify/digest.ts'
import { ItemSums, shortIdIn } from '../../../../bin/clinic/verify/row-sums.ts'

const ids = Array.from({ length: 2000 }, (_, at) => `record-${at}`)
const itemsOf = (id: string) => [`list ${id}`, `patient ${id}`].map(digestOfText)

function summed() {
  const sums = new ItemSums()
  for (const id of ids) for (const item of itemsOf(id)) sums.expect(id, item)
  for (const id of ids.toReversed()) for (const item of itemsOf(id)) sums.find(id, item)
  return sums
}

it('has no suspects when all items are there, in whatever order they are read', () => {
  const sums = summed()
  expect(sums.hasSuspects()).toBe(false)
  expect(ids.filter((id) => sums.isSuspect(id))).toEqual([])
})

it.each([
  ['is missing', (sums: ItemSums) => sums.expect('record-7', digestOfText('third'))],
  ['is superfluous', (sums: ItemSums) => sums.find('record-7', digestOfText('list record-7'))],
  [
    'is different',
    (sums: ItemSums) => {
      sums.expect('record-7', digestOfText('name=Ada'))
      sums.find('record-7', digestOfText('name=Ida'))
    },
  ],
  ['cannot be compared', (sums: ItemSums) => sums.mark('record-7')],
])('suspects the record of an item that %s, and few others', (_, damage) => {
  const sums = summed()
  damage(sums)
  expect([sums.hasSuspects(), sums.isSuspect('record-7')]).toEqual([true, true])
  expect(ids.filter((id) => sums.isSuspect(id)).length).toBeLessThan(5)
})

it('finds differences of two records, which do not cancel each other out', () => {
  const sums = summed()
  for (const id of ids) sums.expect(id, digestOfText(`lost ${id}`))
  expect(ids.filter((id) => !sums.isSuspect(id))).toEqual([])
})

it('finds the short id of a record at the end of a sort key', () => {
  expect(shortIdIn({ sk: 's#2026-05-01#09:00#abc' })).toBe('abc')
})
