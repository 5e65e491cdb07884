/** Operations on the calendar: availability, bookings and statuses. */
import {
  type BookingModel,
  type ClinicModel,
  type HoldModel,
  identified,
  isErased,
  type PatientModel,
  type Placement,
} from '../model.ts'
import { demand, Register, tick } from '../register.ts'
import { pick, type Run, read, submit } from '../run.ts'
import { blocksOf, demandBlock, demandOpen } from './schedule.ts'

/** Longer than a request takes, with its repetitions. */
const MAX_REQUEST_MS = 30_000
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

/** The bookings and holds, but one, that certainly occupy a time which a request that begins now asks for. */
export const occupants = (
  { bookings, holds }: ClinicModel,
  placement: Placement,
  start: number,
  except?: BookingModel | HoldModel,
): readonly (BookingModel | HoldModel)[] => [
  ...bookings.filter((one) => one !== except && occupied(one, placement, start)),
  ...identified(holds).filter((one) => one.id !== except?.id && overlaps(one.placement, placement)),
]

const isHold = (one: BookingModel | HoldModel): one is HoldModel => 'expiresAt' in one

/** Demands that none of them occupied the time all along, since the request got it. `ahead` is of the clock of the request. */
export function demandVacant(token: string, before: readonly (BookingModel | HoldModel)[], ahead = 0): void {
  const now = Date.now() + ahead
  const isLive = ({ endings, expiresAt }: HoldModel) => endings === 0 && expiresAt > now
  const victim = before.find((one) => (isHold(one) ? isLive(one) : isUntouched(one)))
  demand(!victim, () => `${token} has the time of ${victim?.token}`)
}

/** The clock of every second request is at the edge of the expiry of a hold, whose time it asks for. */
export function drawEdge({ clinic, operation: { number } }: Run) {
  const open = identified(clinic.holds).filter(({ endings }) => endings === 0)
  const hold = number % 2 === 0 ? pick(open, (number % 7) / 7) : undefined
  if (!hold) return { ahead: 0, placement: undefined }
  const ahead = hold.expiresAt - Date.now() + ([-300, 0, 1, 1000][(number / 2) % 4] ?? 0)
  return { ahead, placement: hold.placement }
}

/** A request whose clock is ahead removes the holds of a day that have expired for it. */
export function mayRemoveExpired(
  { holds }: ClinicModel,
  placement: Placement,
  ahead: number,
  except?: HoldModel,
): void {
  const day = { ...placement, from: 0, to: 24 * 60 }
  const clock = Date.now() + ahead + MAX_REQUEST_MS
  if (ahead === 0) return
  for (const hold of holds)
    if (hold !== except && overlaps(hold.placement, day) && hold.expiresAt <= clock) hold.endings++
}

/** Demands that another booking may have had the time for which a request was rejected. */
export function demandRival(
  { bookings, holds }: ClinicModel,
  asked: BookingModel | HoldModel,
  placement: Placement,
  start: number,
  /** The time of the clock of the request when it began. */
  clock = 0,
): void {
  const held = holds.find(
    (one) =>
      one !== asked &&
      one.existence !== 'none' &&
      one.endedBy > start &&
      one.expiresAt > clock &&
      overlaps(one.placement, placement),
  )
  if (held) return
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

export const newBooking = (
  { clinic, operation }: Run,
  patient: PatientModel,
  placement: Placement,
): BookingModel => ({
  token: `n${operation.number}${clinic.suffix}`,
  patient,
  placement: new Register(placement),
  placements: [placement],
  start: tick(),
  id: null,
  existence: 'possible',
  status: new Register('scheduled'),
  freedAt: Number.POSITIVE_INFINITY,
})

export async function bookAppointment(run: Run): Promise<void> {
  const { clinic, operation } = run
  const [byPatient, ...byPlacement] = operation.random
  const patient = pick(identified(clinic.patients), byPatient)
  const edge = drawEdge(run)
  const placement = edge.placement ?? drawPlacement(clinic, byPlacement)
  if (!patient || !placement) return
  const clock = Date.now() + edge.ahead
  const booking = newBooking(run, patient, placement)
  mayRemoveExpired(clinic, placement, edge.ahead)
  const takenBefore = occupants(clinic, placement, booking.start)
  const blocksBefore = blocksOf(clinic, placement)
  clinic.bookings.push(booking)
  if (isErased(patient)) mayCancel(booking)
  const body = { patient_id: patient.id, ...placementFields(placement), notes: booking.token }
  const outcome = await submit(run, 'create-appointment', { body, ahead: edge.ahead })
  if (outcome.kind === 'unknown') return
  if (outcome.kind === 'done') {
    booking.id = outcome.body.data.id
    booking.existence = 'certain'
    demandVacant(booking.token, takenBefore, edge.ahead)
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
  demandRival(clinic, booking, placement, booking.start, clock)
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
    const slot = { ...day, from, to }
    const has = (one: BookingModel | HoldModel) =>
      overlaps(isHold(one) ? one.placement : (one.placements[0] as Placement), slot)
    demandVacant(`the free slot at ${start_time}`, taken.filter(has))
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
