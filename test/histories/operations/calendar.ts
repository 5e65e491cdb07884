/** Operations on the calendar: availability, bookings and statuses. */

import { CommandFailure } from '../../../bin/clinic/output.ts'
import { changeRecord } from '../../../bin/clinic/record.ts'
import { canTransition } from '../../../shared/domain/appointment.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { type BookingModel, identified, isErased } from '../model.ts'
import { demand, Register, tick } from '../register.ts'
import { command, pick, type Run, read, submit } from '../run.ts'

const FREE = ['cancelled', 'no_show']
const DATES = ['2199-01-07', '2199-01-08']

/** Added to the number of an operation for the second request of the same operation. */
const SECOND = 1000

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
const timeOf = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

const overlaps = (a: BookingModel, doctor: string, date: string, from: number, to: number): boolean =>
  a.doctor === doctor && a.date === date && a.from < to && from < a.to

/** Whether the booking certainly occupied its time throughout, from `since` until now. */
const occupied = (one: BookingModel, since: number): boolean =>
  one.existence === 'certain' && one.start < since && one.status.isUntouched

export async function bookAppointment(run: Run): Promise<void> {
  const { clinic, operation } = run
  const [byPatient, byDoctor, byDate, byTime = 0, byLength = 0] = operation.random
  const patient = pick(identified(clinic.patients), byPatient)
  const doctor = pick(clinic.doctors, byDoctor)?.id
  const date = pick(DATES, byDate)
  if (!patient || !doctor || !date) return
  const from = 9 * 60 + 15 * Math.floor(byTime * 16)
  const duration = byLength < 0.5 ? 30 : 45
  const to = from + duration
  const booking: BookingModel = {
    token: `n${operation.number}${clinic.suffix}`,
    ...{
      patient,
      doctor,
      date,
      from,
      to,
      start: tick(),
      id: null,
      existence: 'possible' as const,
      isImported: false,
    },
    status: new Register('scheduled'),
    freedAt: Number.POSITIVE_INFINITY,
  }
  const takenBefore = clinic.bookings.filter(
    (one) => overlaps(one, doctor, date, from, to) && occupied(one, booking.start),
  )
  clinic.bookings.push(booking)
  const body = {
    ...{
      patient_id: patient.id,
      doctor_id: doctor,
      appointment_date: date,
      start_time: timeOf(from),
      duration,
    },
    notes: booking.token,
  }
  const outcome = await submit(run, 'create-appointment', { body })
  if (outcome.kind === 'unknown') return
  if (outcome.kind === 'done') {
    booking.id = outcome.body.data.id
    booking.existence = 'certain'
    const victim = takenBefore.find(({ status }) => status.isUntouched)
    demand(!victim, () => `${booking.token} was booked over ${victim?.token}`)
    return
  }
  booking.existence = 'none'
  const { status } = outcome
  if (status === 404) {
    demand(isErased(patient), () => `booking for ${patient.token} returned 404`)
    return
  }
  demand(status === 409, () => `a booking returned ${status} ${JSON.stringify(outcome.body)}`)
  const rival = clinic.bookings.find(
    (one) =>
      one !== booking &&
      one.existence !== 'none' &&
      overlaps(one, doctor, date, from, to) &&
      one.freedAt > booking.start,
  )
  // A rival that was refused in the meantime cannot have taken the slot.
  demand(rival !== undefined, () => `409 for a free slot: ${booking.token} ${date} ${timeOf(from)}`)
}

/** Two requests for overlapping times at the same time. */
export async function bookRivals(run: Run): Promise<void> {
  const { operation } = run
  const random = operation.random
    .with(0, 1 - (operation.random[0] ?? 0.5) / 2)
    .with(4, 1 - (operation.random[4] ?? 0))
  const rival = { ...run, operation: { ...operation, number: operation.number + SECOND, random } }
  await Promise.all([bookAppointment(run), bookAppointment(rival)])
}

export async function readAvailability(run: Run): Promise<void> {
  const { clinic, operation } = run
  const doctor = pick(clinic.doctors, operation.random[0])?.id
  const date = pick(DATES, operation.random[1])
  if (!doctor || !date) return
  const start = tick()
  const taken = clinic.bookings.filter(
    (one) => one.doctor === doctor && one.date === date && occupied(one, start),
  )
  const response = await read(run, 'get-availability', { query: { doctor_id: doctor, date, duration: '15' } })
  if (!response) return
  demand(response.status === 200, () => `availability returned ${response.status}`)
  for (const { start_time, end_time } of response.body.data) {
    const [from, to] = [minutesOf(start_time), minutesOf(end_time)]
    const booked = taken.find((one) => one.status.isUntouched && overlaps(one, doctor, date, from, to))
    demand(!booked, () => `${start_time} is listed as free, but ${booked?.token} has it`)
  }
}

export async function listAppointments(run: Run): Promise<void> {
  const { clinic } = run
  const committed = identified(clinic.bookings)
  const response = await read(run, 'list-appointments', { query: { limit: '100' } })
  if (!response) return
  const ids: string[] = response.body.data.map(({ id }: { id: string }) => id)
  demand(new Set(ids).size === ids.length, () => 'a page of appointments has one twice')
  const missing = committed.find((one) => one.status.isUntouched && !ids.includes(one.id))
  demand(!missing, () => `appointment ${missing?.token} is missing from its list`)
}

export async function changeStatus(run: Run): Promise<void> {
  const { clinic, operation } = run
  const booking = pick(identified(clinic.bookings), operation.random[0])
  const status = pick(['cancelled', 'completed', 'no_show'] as const, operation.random[1])
  if (!booking || !status) return
  const write = booking.status.begin(status)
  const outcome = await command(run, (table) =>
    changeRecord(table, appointmentStore({ table }), clinic.id as ClinicId, booking.id, async (before) => {
      // As the command of the operator tool does.
      if (before.status !== status && !canTransition(before.status, status)) throw new CommandFailure('final')
      return { ...before, status }
    }),
  )
  if (FREE.includes(status) && outcome.kind !== 'refused') booking.freedAt = Math.min(booking.freedAt, tick())
  if (outcome.kind === 'unknown') {
    if (FREE.includes(status)) booking.freedAt = Number.POSITIVE_INFINITY
    return
  }
  if (outcome.kind === 'done')
    demand(outcome.result !== null, () => `appointment ${booking.token} was not found`)
  booking.status.settle(write, outcome.kind === 'done' ? 'certain' : 'none')
}
