import { expect, it } from 'vitest'
import { ItemSums } from '../../../../../shared/maintenance/verify/comparison/item-sums.ts'

const item = { pk: 'a', sk: 'b', x: 1, room: { i: '1', n: 'One' }, items: ['p', 'q'] }

it.each([
  [
    'the same item with another order of attributes',
    { items: ['p', 'q'], room: { n: 'One', i: '1' }, x: 1, sk: 'b', pk: 'a' },
    false,
  ],
  ['another key', { ...item, sk: 'c' }, true],
  ['another value', { ...item, x: 2 }, true],
  ['another type', { ...item, x: '1' }, true],
  ['exchanged values', { ...item, pk: 'b', sk: 'a' }, true],
  ['another order of a list', { ...item, items: ['q', 'p'] }, true],
  ['another attribute in an object', { ...item, room: { i: '1', n: 'Two' } }, true],
  ['one attribute more', { ...item, y: null }, true],
])('a record is a suspect if its item is not what is there: %s', (_, found, isSuspect) => {
  const sums = new ItemSums()
  sums.expect('record', item)
  sums.find('record', found)
  expect([sums.isSuspect('record'), sums.hasSuspects()]).toEqual([isSuspect, isSuspect])
})
