import { wallClock } from '../../domain/clock.ts'
import { overlaps } from '../../domain/interval.ts'
import { APPOINTMENTS, appointmentStore, busyDayKeys } from '../../store/calendar/appointments.ts'
import { appointmentTimes } from '../../store/calendar/busy-days.ts'
import { clinicStore } from '../../store/clinics.ts'
import { calendarKey, doctorDayPartition, roomDayPartition } from '../../store/keys/calendar.ts'
import { roomsPartition } from '../../store/keys/catalogue.ts'
import { doctorsPartition } from '../../store/keys/clinics.ts'
import { type Key, longId } from '../../store/keys/key.ts'
import type { Item } from '../../store/table/write-requests.ts'
import { forEachConcurrent } from '../walk/for-each-concurrent.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import { type Finding, findingOf, type Inspection } from './comparison/inspection.ts'

/** The ids of two appointments. */
type Pair = readonly [string, string]

/**
 * Reports appointments that take the same time of a doctor or a room and are not over yet. No booking makes them, but an import with
 * --allow-overlaps does. History may overlap itself.
 */
export async function checkOverlappingAppointments({ table, clinic, examineAll }: Inspection): Promise<void> {
  // Settings that cannot be read were reported before.
  const info = await clinicStore({ table })
    .find(clinic)
    .catch(() => null)
  if (!info) return
  const { date: today, seconds } = wallClock(table.now(), info.timezone)
  const appointments = appointmentStore({ table })

  /** The pairs that overlap on a day, without appointments that are over. */
  function pairsOf(day: Item): Pair[] {
    // Sorted, because the order of attributes differs from one read to the next.
    const coming = [...appointmentTimes(day)]
      .filter(([, { to }]) => day.sk > today || to * 60 > seconds)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return coming.flatMap(([id, time], at) =>
      coming
        .slice(at + 1)
        .filter(([, other]) => overlaps(time, other))
        .map(([other]): Pair => [longId(id), longId(other)]),
    )
  }

  async function recheck({ pk, sk }: Key, owner: string, [first, second]: Pair): Promise<Finding | null> {
    const [day, found] = await Promise.all([
      table.get({ pk, sk }),
      appointments.findMany(clinic, [first, second]),
    ])
    const isLeft = day && pairsOf(day).some(([a, b]) => a === first && b === second)
    // Time on the day that is not an appointment's is a difference of its own.
    const areOnDay = [first, second].every((id) => {
      const record = found.get(id)?.record
      return record && busyDayKeys(clinic, record).some((one) => one.pk === pk && one.sk === sk)
    })
    if (!isLeft || !areOnDay) return null
    const note = `overlaps appointment ${second} of the same ${owner}`
    const record = calendarKey(clinic, APPOINTMENTS.entityCode, first)
    return findingOf('appointments_overlap', record, null, note)
  }

  async function checkDays(partition: string, owner: string): Promise<void> {
    for await (const days of partitionPages(table, partition, { from: today }))
      for (const day of days) await examineAll(pairsOf(day), (pair) => recheck(day, owner, pair))
  }

  // Doctors and rooms are not decoded: an unreadable one has appointments, too.
  for await (const doctors of partitionPages(table, doctorsPartition(clinic)))
    await forEachConcurrent(doctors, ({ sk }) => checkDays(doctorDayPartition(clinic, sk), 'doctor'))
  for await (const rooms of partitionPages(table, roomsPartition(clinic)))
    await forEachConcurrent(rooms, ({ sk }) => checkDays(roomDayPartition(clinic, sk), 'room'))
}
