import fc from 'fast-check'
import { expect, it } from 'vitest'
import { digestOfItem, digestOfParts, sumOfAttributes } from '../../../../bin/clinic/verify/digest.ts'

const ITEM = { pk: 'a', n: 1, li: [{ b: '1', a: [true, null] }] }
const textOf = (item: Record<string, unknown>) => JSON.stringify(digestOfItem(item))

it('is the same for equal items, whatever the order of their attributes', () => {
  expect(textOf({ li: [{ a: [true, null], b: '1' }], n: 1, pk: 'a' })).toBe(textOf(ITEM))
})

it('is the same for an item that was summed in two parts', () => {
  const { pk, ...others } = ITEM
  expect(digestOfParts(sumOfAttributes(others), sumOfAttributes({ pk }))).toEqual(digestOfItem(ITEM))
})

it('differs where a value, its type, its name or its place differs', () => {
  const others = [
    { ...ITEM, n: '1' },
    { ...ITEM, n: 2 },
    { ...ITEM, n: -1 },
    { ...ITEM, n: null },
    { ...ITEM, n: new Uint8Array([1]) },
    { ...ITEM, n: new Set([1]) },
    { ...ITEM, li: [] },
    { ...ITEM, li: [{ b: '1', a: [null, true] }] },
    { ...ITEM, li: [{ b: 1, a: [true, null] }] },
    { pk: 'a', n: 1 },
    { ...ITEM, pk: 'b' },
    { m: 1, pk: 'a', li: ITEM.li },
    { pk: 'a', li: ITEM.li, 'n=1': '' },
  ]
  expect(new Set([ITEM, ...others].map(textOf)).size).toBe(14)
})

it('does not leave the sum of two items as it was when they exchange a value', () => {
  const sumOf = (...items: Record<string, unknown>[]) => {
    const digests = items.map(digestOfItem)
    return [digests.reduce((sum, { low }) => sum + low, 0), digests.reduce((sum, { high }) => sum + high, 0)]
  }
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { minLength: 4, maxLength: 4 }), ([a, b, c, d]) => {
      const [before, after] = [sumOf({ a, b }, { a: c, b: d }), sumOf({ a: c, b }, { a, b: d })]
      expect(before[0]).not.toBe(after[0])
      expect(before[1]).not.toBe(after[1])
    }),
  )
})
