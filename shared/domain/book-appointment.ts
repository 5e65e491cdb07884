/** Decides whether an appointment can be booked, and which other times to offer. */
import { type Appointment, NEW_APPOINTMENT } from './appointment.ts'
import type { WallClock } from './clock.ts'
import type { Doctor } from './doctor.ts'
import { formatTime, type Interval, parseTime } from './interval.ts'
import { fullName, type Patient } from './patient.ts'
import { bookingRefusal, type DatedSlot, nextFreeSlots } from './slots.ts'

/** Days after the requested one that are searched for other times. */
export const ALTERNATIVE_DAYS = 14

/** A request for an appointment, the same at every attempt to book it. */
export type BookingRequest = {
  /** The new appointment's id. */
  readonly id: string
  readonly patient: string
  readonly doctor: string
  /** Clinic-local `Y-m-d`. */
  readonly date: string
  /** Clinic-local `HH:MM`. */
  readonly startTime: string
  readonly minutes: number
  readonly notes: string | null
  /** The clinic's IANA zone. */
  readonly timezone: string
  /** The clinic's wall clock at the time of the request. */
  readonly clock: WallClock
  /** ISO 8601 instant in UTC. */
  readonly createdAt: string
}

/** What is stored about the patient, the doctor and the doctor's day. */
export type BookingFacts = {
  readonly patient: Patient | undefined
  readonly doctor: Doctor | null
  /** Time that the doctor's appointments take on the requested date. */
  readonly busy: readonly Interval[]
}

export type BookingVerdict =
  | { readonly kind: 'booked'; readonly appointment: Appointment }
  | { readonly kind: 'patient_not_found' }
  | { readonly kind: 'doctor_not_found' }
  | { readonly kind: 'in_past' }
  | { readonly kind: 'outside_hours' }
  | { readonly kind: 'taken' }

/** Decides on a booking. An erased patient counts as not found. */
export function bookAppointment(
  request: BookingRequest,
  { patient, doctor, busy }: BookingFacts,
): BookingVerdict {
  if (!patient || patient.erasedAt) return { kind: 'patient_not_found' }
  if (!doctor) return { kind: 'doctor_not_found' }
  const { date, timezone, clock } = request
  const interval = intervalOf(request)
  const refusal = bookingRefusal({ doctor, date, timezone, busy }, interval, clock)
  if (refusal) return { kind: refusal }
  const appointment: Appointment = {
    id: request.id,
    patient: { id: patient.id, fullName: fullName(patient) },
    doctor: { id: doctor.id, fullName: doctor.fullName },
    ...NEW_APPOINTMENT,
    date,
    startTime: request.startTime,
    endTime: formatTime(interval.to),
    notes: request.notes,
    createdAt: request.createdAt,
  }
  return { kind: 'booked', appointment }
}

/**
 * The next free times of the requested length, at most three: later on the requested date, then on the
 * {@link ALTERNATIVE_DAYS} days after it. `busyOn` returns the time that the doctor's appointments take on a date.
 */
export function alternativesTo(
  request: BookingRequest,
  doctor: Doctor,
  busyOn: (date: string) => readonly Interval[],
): DatedSlot[] {
  const { date, timezone, clock } = request
  const day = { doctor, date, timezone, busy: busyOn(date) }
  return nextFreeSlots(day, busyOn, intervalOf(request), ALTERNATIVE_DAYS, clock)
}

function intervalOf({ startTime, minutes }: BookingRequest): Interval {
  const from = parseTime(startTime)
  return { from, to: from + minutes }
}
