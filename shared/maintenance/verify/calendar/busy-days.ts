import type { Key } from '../../../store/keys/key.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { ifUnchanged } from '../comparison/conditions.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'

/** Finds days of doctors and rooms without a version: bookings could not depend on them. */
export function unversionedDayChecker({ table, examine }: Inspection) {
  const noted: Key[] = []

  const recheck =
    ({ pk, sk }: Key): Recheck =>
    async () => {
      const day = await table.get({ pk, sk })
      if (!day || isVersioned(day)) return null
      const set = { UpdateExpression: 'SET v = :next', ExpressionAttributeValues: { ':next': 1 } }
      return {
        differences: [{ kind: 'busy_unversioned', key: { pk, sk } }],
        repair: () => table.transact([ifUnchanged(table.updateWrite({ pk, sk }, set), { v: day.v })]),
      }
    }

  return {
    note: (day: Item) => {
      if (!isVersioned(day)) noted.push(day)
    },
    checkNoted: () => forEachConcurrent(noted, (day) => examine(recheck(day))),
  }
}

/** Bookings are conditional on the version that they read; 0 means that the day has no item. */
const isVersioned = ({ v }: Item): boolean => Number.isInteger(v) && Number(v) > 0
