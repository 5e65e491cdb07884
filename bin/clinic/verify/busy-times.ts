import { type Appointment, takesTime } from '../../../shared/domain/appointment.ts'
import { isUuid } from '../../../shared/domain/uuid.ts'
import { APPOINTMENTS } from '../../../shared/store/calendar/appointments.ts'
import { calendarKey, doctorDayKey, doctorDayPartition } from '../../../shared/store/keys/calendar.ts'
import { type Key, longId, shortId } from '../../../shared/store/keys/key.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import type { Item } from '../../../shared/store/table/table.ts'
import { ifRead, unchangedWrite } from './conditions.ts'
import { eachAbreast } from './each-abreast.ts'
import type { Look } from './fault.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'
import { imageOf, nameOf } from './record-image.ts'

/** Attributes of a day that stand for no appointment. */
const OWN = new Set(['pk', 'sk', 'v'])

/** Whether doctors' days have the time of every appointment that takes time, and no other. */
export function busyTimes({ table, clinic, count, examine }: Inspection) {
  const image = (item: Item) => imageOf(clinic, APPOINTMENTS, item)
  const dayOf = ({ doctor, date }: Appointment): Key => doctorDayKey(clinic, doctor.id, date)

  /** Appointments against their days. */
  async function checkRecords(items: readonly Item[]): Promise<void> {
    const busy = items
      .map((item) => image(item)?.record)
      .filter((record) => record !== undefined)
      .filter(({ status }) => takesTime(status))
    const keys = new Map(busy.map(dayOf).map((key) => [nameOf(key), key]))
    const read = await table.getMany([...keys.values()])
    const days = new Map(read.map((day) => [nameOf(day), day]))
    const suspects = busy.filter(
      (record) => days.get(nameOf(dayOf(record)))?.[shortId(record.id)] !== interval(record),
    )
    await eachAbreast(suspects, ({ id }) => examine(lookAtRecord(id)))
  }

  const lookAtRecord =
    (id: string): Look =>
    async () => {
      const recordKey = calendarKey(clinic, APPOINTMENTS.letter, id)
      const item = await table.get(recordKey)
      const read = item && image(item)
      if (!read || !takesTime(read.record.status)) return null
      const key = dayOf(read.record)
      const day = await table.get(key)
      const again = await table.get(recordKey)
      if (again?.v !== item?.v) return 'moving'
      const found = day?.[shortId(id)]
      if (found === interval(read.record)) return null
      const mend = () => {
        const changes = new Changeset(table, clinic)
        changes.set(key, shortId(id), interval(read.record))
        changes.require(recordKey, read.version)
        return changes.commit()
      }
      const kind = found === undefined ? 'busy_missing' : 'busy_differs'
      return { faults: [{ kind, key, note: `appointment ${id}` }], mend }
    }

  /** A doctor's days against the appointments that they name. */
  async function checkDays(doctor: string): Promise<void> {
    for await (const days of partitionPages(table, doctorDayPartition(clinic, doctor))) {
      count('days', days.length)
      const entries = days.flatMap((day) => entriesOf(day).map((name) => ({ day, name })))
      const ids = new Set(entries.flatMap(({ name }) => appointmentId(name) ?? []))
      const items = await table.getMany([...ids].map((id) => calendarKey(clinic, APPOINTMENTS.letter, id)))
      const records = new Map(items.map((item) => [item.sk, item]))
      const suspects = entries.filter(
        ({ day, name }) => !belongs(day, records.get(appointmentId(name) ?? '')),
      )
      await eachAbreast(suspects, ({ day, name }) => examine(lookAtEntry(day, name)))
      const unversioned = days.filter((day) => !isVersioned(day))
      await eachAbreast(unversioned, (day) => examine(lookAtVersion(day)))
    }
  }

  const lookAtVersion =
    ({ pk, sk }: Key): Look =>
    async () => {
      const day = await table.get({ pk, sk })
      if (!day || isVersioned(day)) return null
      const mend = () =>
        table.transact([
          ifRead(
            table.updateWrite(
              { pk, sk },
              { UpdateExpression: 'SET v = :next', ExpressionAttributeValues: { ':next': 1 } },
            ),
            { v: day.v },
          ),
        ])
      return { faults: [{ kind: 'busy_unversioned', key: { pk, sk } }], mend }
    }

  const lookAtEntry =
    ({ pk, sk }: Key, name: string): Look =>
    async () => {
      const id = appointmentId(name)
      const recordKey = id === null ? null : calendarKey(clinic, APPOINTMENTS.letter, id)
      const item = recordKey ? await table.get(recordKey) : undefined
      const day = await table.get({ pk, sk })
      const again = recordKey ? await table.get(recordKey) : undefined
      if (again?.v !== item?.v) return 'moving'
      if (day?.[name] === undefined || belongs({ pk, sk }, item)) return null
      const mend = () => {
        const changes = new Changeset(table, clinic)
        changes.set({ pk, sk }, name, undefined)
        return table.transact([
          ...changes.writes(),
          ...(recordKey ? [unchangedWrite(table, recordKey, item)] : []),
        ])
      }
      const note = id === null ? 'no appointment' : `appointment ${id}`
      return { faults: [{ kind: 'busy_extra', key: { pk, sk }, note }], mend }
    }

  /** Whether an appointment takes time on a day; one that cannot be read is given the benefit of the doubt. */
  function belongs(day: Key, item: Item | undefined): boolean {
    if (!item) return false
    const record = image(item)?.record
    return !record || (takesTime(record.status) && nameOf(dayOf(record)) === nameOf(day))
  }

  return { checkRecords, checkDays }
}

const interval = ({ startTime, endTime }: Appointment): string => `${startTime}-${endTime}`

const entriesOf = (day: Item): string[] => Object.keys(day).filter((name) => !OWN.has(name))

/** A booking is conditional on the version that it read; 0 stands for a day that is not there. */
const isVersioned = ({ v }: Item): boolean => Number.isInteger(v) && Number(v) > 0

function appointmentId(name: string): string | null {
  const id = longId(name)
  return name.length === 22 && isUuid(id) ? id : null
}
