import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  emptyPart,
  isPart,
  OrdinalSet,
  PART_SIZE,
  partOf,
  withMember,
} from '../../../../shared/domain/lists/ordinal-set.ts'
import { property } from '../../../support/scale.ts'

const setOf = (members: Iterable<number>): OrdinalSet => {
  const parts = new Map<number, Uint8Array>()
  for (const ordinal of members) {
    const part = partOf(ordinal)
    parts.set(part, withMember(parts.get(part) ?? emptyPart(), ordinal, true))
  }
  return new OrdinalSet(parts)
}

/** Around the bounds of parts and bytes, and anywhere. */
const ordinals = fc.oneof(
  fc.nat(3 * PART_SIZE),
  fc.constantFrom(0, 7, 8, PART_SIZE - 1, PART_SIZE, PART_SIZE + 1, 2 * PART_SIZE - 1, 2 * PART_SIZE),
)

describe('OrdinalSet', () => {
  it('counts and selects what a list of ordinals would', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(ordinals, { maxLength: 60 }),
        ordinals,
        fc.boolean(),
        fc.nat(2 * PART_SIZE),
        fc.integer({ min: 1, max: 100 }),
        (members, end, isMember, offset, limit) => {
          const set = setOf(members)
          const below = Array.from({ length: end }, (_, ordinal) => end - 1 - ordinal)
          const known = new Set(members)
          const wanted = below.filter((ordinal) => known.has(ordinal) === isMember)
          expect(set.count(end)).toBe(members.filter((ordinal) => ordinal < end).length)
          expect(set.select({ members: isMember, end, offset, limit })).toEqual(
            wanted.slice(offset, offset + limit),
          )
        },
      ),
      property(100, 2000),
    )
  })

  it('has an ordinal until it is removed', () => {
    const added = withMember(emptyPart(), 9, true)
    expect(new OrdinalSet(new Map([[0, added]])).has(9)).toBe(true)
    expect(withMember(added, 9, false)).toEqual(emptyPart())
    expect(setOf([PART_SIZE + 9]).has(9)).toBe(false)
  })
})

it('isPart accepts the bits of a part, and nothing else', () => {
  expect([emptyPart(), emptyPart().slice(1), 'x', undefined].map(isPart)).toEqual([true, false, false, false])
})
