/** Imported history may overlap itself. Appointments that are still to come take time that must be free. */

import { type Appointment, occupiesSlot } from '../../domain/booking/appointment.ts'
import type { ClinicInfo } from '../../domain/clinic.ts'
import { formatTime, overlaps, parseTime } from '../../domain/interval.ts'
import { clinicTimestamp } from '../../domain/timestamp.ts'
import { appointmentStore, busyDayKeys, busyTime } from '../../store/calendar/appointments.ts'
import { findDay, requireDay, takenTimes } from '../../store/calendar/busy-days.ts'
import { type Key, longId } from '../../store/keys/key.ts'
import type { Changeset } from '../../store/table/changeset.ts'
import type { Table } from '../../store/table/table.ts'
import { RowRejectedError } from '../outcomes/row-rejected.ts'

type AppointmentTime = Pick<Appointment, 'date' | 'endTime' | 'status'>

/** Whether an appointment takes time, and is not over in the clinic's time zone. */
export const isAhead = (
  { date, endTime, status }: AppointmentTime,
  clinic: ClinicInfo,
  now: number,
): boolean =>
  occupiesSlot(status) &&
  `${date}T${endTime}` > clinicTimestamp(new Date(now).toISOString(), clinic.timezone).slice(0, 16)

/**
 * Requires the time that an appointment is to take to be free, when it is checked and when it is written. Time that it has already is not
 * checked again.
 * @throws RowRejectedError with the id and time of the other, if another appointment or a hold of the doctor or of the room has a part of it
 */
export async function requireFreeTime(
  table: Table,
  changes: Changeset,
  before: Appointment | null,
  after: Appointment,
): Promise<void> {
  const own = before ? busyDayKeys(changes.clinic, before) : []
  const isOwn = (key: Key) =>
    before && busyTime(before) === busyTime(after) && own.some(({ pk, sk }) => pk === key.pk && sk === key.sk)
  const keys = busyDayKeys(changes.clinic, after)
  const time = { from: parseTime(after.startTime), to: parseTime(after.endTime) }
  for (const [at, key] of keys.entries()) {
    if (isOwn(key)) continue
    const day = await findDay(table, key, table.now())
    const [other] = takenTimes(day, [after.id])
      .filter(([, taken]) => overlaps(taken, time))
      .sort(([a, { from }], [b, later]) => from - later.from || (a < b ? -1 : 1))
    if (other) {
      const id = longId(other[0])
      const isHold = !day.times.has(other[0])
      const stored = isHold ? null : await appointmentStore({ table }).find(changes.clinic, id)
      throw new RowRejectedError(
        { field: 'start_time', issue: at === 0 ? 'slot_unavailable' : 'room_unavailable' },
        `the appointment would overlap ${isHold ? 'hold' : 'appointment'} ${stored?.record.externalId ?? id} at ${formatTime(other[1].from)} ` +
          `of the same ${at === 0 ? 'doctor' : 'room'}; import the row with --allow-overlaps if both are right`,
      )
    }
    requireDay(changes, key, day)
  }
}

/**
 * Divides rows into rounds that are written one after another. In its round, a row is alone with what writing it changes, such as the days
 * of a doctor and a room that an appointment is checked against. Those that change nothing of the kind come first: they may leave the time that another takes.
 */
export function inRounds<Row>(rows: readonly Row[], changedBy: (row: Row) => readonly string[]): Row[][] {
  const first: Row[] = []
  const rounds: Row[][] = []
  const counts = new Map<string, number>()
  for (const row of rows) {
    const changed = changedBy(row)
    if (changed.length === 0) {
      first.push(row)
      continue
    }
    const round = Math.max(...changed.map((one) => counts.get(one) ?? 0))
    for (const one of changed) counts.set(one, round + 1)
    rounds[round] = [...(rounds[round] ?? []), row]
  }
  return [first, ...rounds].filter(({ length }) => length > 0)
}
