import type { Appointment } from '../../../domain/booking/appointment.ts'
import { isUuid } from '../../../domain/uuid.ts'
import { APPOINTMENTS, busyDayKeys, busyTime } from '../../../store/calendar/appointments.ts'
import { calendarKey } from '../../../store/keys/calendar.ts'
import { type Key, longId, shortId } from '../../../store/keys/key.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import type { Table } from '../../../store/table/table.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { ifUnchanged, requireUnchanged } from '../comparison/conditions.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { KeySums } from '../comparison/key-sums.ts'
import { imageOf, keyText } from '../comparison/record-image.ts'

/** Attributes of a day item that are not appointments. */
const NON_APPOINTMENT_ATTRIBUTES = new Set(['pk', 'sk', 'v'])

/** Verifies that the days of doctors and rooms contain the time of every appointment that occupies time, and no other. */
export function busyTimeChecker(inspection: Inspection, counts = new KeySums()) {
  const { table, clinic, count, examine } = inspection
  const image = (item: Item) => imageOf(clinic, APPOINTMENTS, item)
  /** Times that do not match the days, to be read again once these have versions: a time needs a day with a version. */
  const suspects: { id: string; key: Key }[] = []

  /** Compares appointments with the days of their doctors and rooms. */
  async function checkRecords(items: readonly Item[]): Promise<void> {
    const records = items.map((item) => image(item)?.record).filter((record) => record !== undefined)
    const busy = records.flatMap((record) => busyDayKeys(clinic, record).map((key) => ({ record, key })))
    const keys = new Map(busy.map(({ key }) => [keyText(key), key]))
    const read = await table.getMany([...keys.values()])
    const days = new Map(read.map((day) => [keyText(day), day]))
    for (const { record, key } of busy)
      if (days.get(keyText(key))?.[shortId(record.id)] !== undefined)
        counts.expect(shortId(record.id), keyText(key))
    for (const { record, key } of busy)
      if (days.get(keyText(key))?.[shortId(record.id)] !== busyTime(record))
        suspects.push({ id: record.id, key })
  }

  /** Verifies the appointments that did not match, once all days were surveyed. */
  const checkSurveyed = (): Promise<void> =>
    forEachConcurrent(suspects, ({ id, key }) => examine(recheckRecord(id, key)))

  const recheckRecord =
    (id: string, key: Key): Recheck =>
    async () => {
      const recordKey = calendarKey(clinic, APPOINTMENTS.entityCode, id)
      const item = await table.get(recordKey)
      const read = item && image(item)
      if (!read || !isBusyOn(read.record, key)) return null
      const day = await table.get(key)
      const again = await table.get(recordKey)
      if (again?.v !== item?.v) return 'moving'
      const found = day?.[shortId(id)]
      const time = busyTime(read.record)
      if (found === time) return null
      const repair = () => {
        const changes = new Changeset(table, clinic)
        changes.set(key, shortId(id), time)
        changes.requireVersion(recordKey, read.version)
        return changes.commit()
      }
      const kind = found === undefined ? 'busy_missing' : 'busy_differs'
      return { differences: [{ kind, key, note: `appointment ${id}` }], repair }
    }

  /** Counts the times on the days of a doctor or a room. */
  async function surveyDays(partition: string): Promise<void> {
    for await (const days of partitionPages(table, partition)) {
      count('days', days.length)
      for (const day of days) for (const name of entriesOf(day)) counts.find(name, keyText(day))
      const unversioned = days.filter((day) => !isVersioned(day))
      await forEachConcurrent(unversioned, (day) => examine(recheckVersion(table, day)))
    }
  }

  /** Verifies the days of a doctor or a room against the appointments that they name. */
  async function checkDays(partition: string): Promise<void> {
    for await (const days of partitionPages(table, partition)) {
      const entries = days
        .flatMap((day) => entriesOf(day).map((name) => ({ day, name })))
        .filter(({ name }) => counts.isSuspect(name))
      const ids = new Set(entries.flatMap(({ name }) => appointmentId(name) ?? []))
      const items = await table.getMany(
        [...ids].map((id) => calendarKey(clinic, APPOINTMENTS.entityCode, id)),
      )
      const records = new Map(items.map((item) => [item.sk, item]))
      const suspects = entries.filter(
        ({ day, name }) => !belongs(day, records.get(appointmentId(name) ?? '')),
      )
      await forEachConcurrent(suspects, ({ day, name }) => examine(recheckEntry(day, name)))
    }
  }

  const recheckEntry =
    ({ pk, sk }: Key, name: string): Recheck =>
    async () => {
      const id = appointmentId(name)
      const recordKey = id === null ? null : calendarKey(clinic, APPOINTMENTS.entityCode, id)
      const item = recordKey ? await table.get(recordKey) : undefined
      const day = await table.get({ pk, sk })
      const again = recordKey ? await table.get(recordKey) : undefined
      if (again?.v !== item?.v) return 'moving'
      if (day?.[name] === undefined || belongs({ pk, sk }, item)) return null
      const repair = () => {
        const changes = new Changeset(table, clinic)
        changes.set({ pk, sk }, name, undefined)
        return table.transact([
          ...changes.writes(),
          ...(recordKey ? [requireUnchanged(table, recordKey, item)] : []),
        ])
      }
      const note = id === null ? 'no appointment' : `appointment ${id}`
      return { differences: [{ kind: 'busy_extra', key: { pk, sk }, note }], repair }
    }

  /** Whether an appointment occupies time on a day. An unreadable appointment is assumed to. */
  function belongs(day: Key, item: Item | undefined): boolean {
    if (!item) return false
    const record = image(item)?.record
    return !record || isBusyOn(record, day)
  }

  const isBusyOn = (record: Appointment, day: Key): boolean =>
    busyDayKeys(clinic, record).some((key) => keyText(key) === keyText(day))

  return { checkRecords, surveyDays, checkSurveyed, hasSuspects: () => counts.hasSuspects(), checkDays }
}

function appointmentId(name: string): string | null {
  const id = longId(name)
  return name.length === 22 && isUuid(id) ? id : null
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
    return { differences: [{ kind: 'busy_unversioned', key: { pk, sk } }], repair }
  }

/** The appointments that a day names, as it names them. */
const entriesOf = (day: Item): string[] =>
  Object.keys(day).filter((name) => !NON_APPOINTMENT_ATTRIBUTES.has(name))

/** Bookings are conditional on the version that they read; 0 means that the day has no item. */
const isVersioned = ({ v }: Item): boolean => Number.isInteger(v) && Number(v) > 0
