/** Operations on the calendar: availability, bookings and statuses. */
import { type BookingModel, type ClinicModel, identified, isErased, type Placement } from '../model.ts'
import { demand, Register, tick } from '../register.ts'
import { pick, type Run, read, submit } from '../run.ts'
import { blocksOf, demandBlock, demandOpen } from './schedule.ts'

const DATES = ['2199-01-07', '2199-01-08']

/** Added to the number of an operation for the second request of the same operation. */
const SECOND = 1000

export const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
export const timeOf = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

/** Whether two placements have the doctor or the room in common, at the same time. */
const overlaps = (a: Placement, b: Placement): boolean =>
  (a.doctor === b.doctor || (a.room !== null && a.room === b.room)) &&
  a.date === b.date &&
  a.from < b.to &&
  b.from < a.to

/** Whether the booking certainly occupied this time throughout, from `since` until now. */
const occupied = (one: BookingModel, placement: Placement, since: number): boolean =>
  one.existence === 'certain' &&
  one.start < since &&
  isUntouched(one) &&
  overlaps(one.placements[0] as Placement, placement)

const isUntouched = ({ status, placement }: BookingModel): boolean =>
  status.isUntouched && placement.isUntouched

/** The bookings, but one, that certainly occupy a time which a request that begins now asks for. */
export const occupants = (
  { bookings }: ClinicModel,
  placement: Placement,
  start: number,
  except?: BookingModel,
) => bookings.filter((one) => one !== except && occupied(one, placement, start))

/** Demands that none of them occupied the time all along, since the request got it. */
export function demandVacant(token: string, before: readonly BookingModel[]): void {
  const victim = before.find(isUntouched)
  demand(!victim, () => `${token} has the time of ${victim?.token}`)
}

/** Demands that another booking may have had the time for which a request was rejected. */
export function demandRival(
  { bookings }: ClinicModel,
  asked: BookingModel,
  placement: Placement,
  start: number,
): void {
  const rival = bookings.find(
    (one) =>
      one !== asked &&
      one.existence !== 'none' &&
      one.freedAt > start &&
      one.placements.some((other) => overlaps(other, placement)),
  )
  // A rival that was rejected in the meantime cannot have taken the slot.
  demand(rival !== undefined, () => `409 for a free slot: ${asked.token} ${JSON.stringify(placement)}`)
}

/** A placement with one of the clinic's doctors, from four numbers between 0 and 1. */
export function drawPlacement(
  clinic: ClinicModel,
  [byDoctor, byDate, byTime = 0, byLength = 0, byRoom = 0]: readonly number[],
) {
  const doctor = pick(clinic.doctors, byDoctor)?.id
  const date = pick(DATES, byDate)
  if (!doctor || !date) return undefined
  const from = 9 * 60 + 15 * Math.floor(byTime * 16)
  const room = pick([...clinic.rooms, null, null], byRoom) ?? null
  return { doctor, date, room, from, to: from + (byLength < 0.5 ? 30 : 45) }
}

/** The fields of a request for a placement. */
export const placementFields = ({ doctor, room, date, from, to }: Placement) => ({
  doctor_id: doctor,
  room_id: room,
  appointment_date: date,
  start_time: timeOf(from),
  duration: to - from,
})

export async function bookAppointment(run: Run): Promise<void> {
  const { clinic, operation } = run
  const [byPatient, ...byPlacement] = operation.random
  const patient = pick(identified(clinic.patients), byPatient)
  const placement = drawPlacement(clinic, byPlacement)
  if (!patient || !placement) return
  const booking: BookingModel = {
    token: `n${operation.number}${clinic.suffix}`,
    patient,
    placement: new Register(placement),
    placements: [placement],
    start: tick(),
    id: null,
    existence: 'possible' as const,
    status: new Register('scheduled'),
    freedAt: Number.POSITIVE_INFINITY,
  }
  const takenBefore = occupants(clinic, placement, booking.start)
  const blocksBefore = blocksOf(clinic, placement)
  clinic.bookings.push(booking)
  if (isErased(patient)) mayCancel(booking)
  const body = { patient_id: patient.id, ...placementFields(placement), notes: booking.token }
  const outcome = await submit(run, 'create-appointment', { body })
  if (outcome.kind === 'unknown') return
  if (outcome.kind === 'done') {
    booking.id = outcome.body.data.id
    booking.existence = 'certain'
    demandVacant(booking.token, takenBefore)
    demandOpen(booking, blocksBefore)
    return
  }
  booking.existence = 'none'
  const { status } = outcome
  if (status === 422) return demandBlock(clinic, placement, booking.start)
  if (status === 404) {
    demand(isErased(patient), () => `booking for ${patient.token} returned 404`)
    return
  }
  demand(status === 409, () => `a booking returned ${status} ${JSON.stringify(outcome.body)}`)
  demandRival(clinic, booking, placement, booking.start)
}

/** The erasure of its patient may cancel it from now on, unless it has ended before. */
export function mayCancel({ status }: BookingModel): void {
  status.begin('cancelled')
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
  const day = { doctor, date, room: null, from: 0, to: 24 * 60 }
  const taken = occupants(clinic, day, tick())
  const response = await read(run, 'get-availability', { query: { doctor_id: doctor, date, duration: '15' } })
  if (!response) return
  demand(response.status === 200, () => `availability returned ${response.status}`)
  for (const { start_time, end_time } of response.body.data) {
    const [from, to] = [minutesOf(start_time), minutesOf(end_time)]
    const booked = taken.find(
      (one) => isUntouched(one) && overlaps(one.placements[0] as Placement, { ...day, from, to }),
    )
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
  const missing = committed.find((one) => isUntouched(one) && !ids.includes(one.id))
  demand(!missing, () => `appointment ${missing?.token} is missing from its list`)
}
