import { APPOINTMENTS, busyDayKeys, busyTime } from '../../../shared/store/calendar/appointments.ts'
import { type Key, shortId } from '../../../shared/store/keys/key.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import { ifUnchanged } from './conditions.ts'
import { type Digest, digestOfText } from './digest.ts'
import type { Recheck } from './fault.ts'
import { forEachConcurrent } from './for-each-concurrent.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'
import { imageOf, keyText } from './record-image.ts'
import type { ItemSums } from './row-sums.ts'

/** Attributes of a day item that are not appointments. */
const NON_APPOINTMENT_ATTRIBUTES = new Set(['pk', 'sk', 'v'])

/** Compares the times that appointments should take with those of the days by their sums. */
export function busySurvey({ table, clinic, count, examine }: Inspection, sums: ItemSums) {
  const entryOf = (day: Key, time: unknown): Digest => digestOfText(`${keyText(day)} ${String(time)}`)

  /** Adds the times that appointments should take to the sums. */
  function expectTimes(items: readonly Item[]): void {
    for (const item of items) {
      const record = imageOf(clinic, APPOINTMENTS, item)?.record
      // One that cannot be decoded may take any time.
      if (!record) sums.mark(shortId(item.sk))
      for (const key of record ? busyDayKeys(clinic, record) : [])
        sums.expect(shortId(item.sk), entryOf(key, record && busyTime(record)))
    }
  }

  /** Subtracts the times on the days of a doctor or a room from the sums. */
  async function surveyDays(partition: string): Promise<void> {
    for await (const days of partitionPages(table, partition)) {
      count('days', days.length)
      for (const day of days) for (const name of entriesOf(day)) sums.find(name, entryOf(day, day[name]))
      const unversioned = days.filter((day) => !isVersioned(day))
      await forEachConcurrent(unversioned, (day) => examine(recheckVersion(table, day)))
    }
  }

  return { expectTimes, surveyDays, hasSuspects: () => sums.hasSuspects() }
}

/** A day without a version: bookings could not depend on it. */
const recheckVersion =
  (table: Table, { pk, sk }: Key): Recheck =>
  async () => {
    const day = await table.get({ pk, sk })
    if (!day || isVersioned(day)) return null
    const repair = () =>
      table.transact([
        ifUnchanged(
          table.updateWrite(
            { pk, sk },
            { UpdateExpression: 'SET v = :next', ExpressionAttributeValues: { ':next': 1 } },
          ),
          { v: day.v },
        ),
      ])
    return { faults: [{ kind: 'busy_unversioned', key: { pk, sk } }], repair }
  }

/** The appointments that a day names, as it names them. */
export const entriesOf = (day: Item): string[] =>
  Object.keys(day).filter((name) => !NON_APPOINTMENT_ATTRIBUTES.has(name))

/** Bookings are conditional on the version that they read; 0 means that the day has no item. */
const isVersioned = ({ v }: Item): boolean => Number.isInteger(v) && Number(v) > 0
