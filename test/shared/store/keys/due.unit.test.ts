import { expect, it } from 'vitest'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { duePartitions } from '../../../../shared/store/keys/due.ts'

it.each([1, 16, 64, 256])(
  'spread ids over all of %i partitions, and each id always into the same',
  (count) => {
    const { all, of } = duePartitions('example', count)
    expect(new Set(all).size).toBe(count)
    const ids = Array.from({ length: 100 * count }, newUuid)
    expect(new Set(ids.map(of))).toEqual(new Set(all))
    expect(ids.map(of)).toEqual(ids.map(of))
  },
)
