/** When, with whom and where an appointment is to take place: one check for bookings and moves. */

import type { WallClock } from '../clock.ts'
import { formatTime, type Interval, overlaps, parseTime } from '../interval.ts'
import type { Patient } from '../patients/patient.ts'
import type { Appointment } from './appointment.ts'
import type { Room, Treatment } from './catalogue.ts'
import type { Doctor } from './doctor.ts'
import { bookingRejection, type ClosedReason, closedReason, type DatedSlot, nextFreeSlots } from './slots.ts'

/** The bounds of an appointment that is booked or moved, in minutes. */
export const MIN_DURATION = 5
export const MAX_DURATION = 480

/** Treatments of one appointment. */
export const MAX_TREATMENTS = 10

/** Days after the requested one that are searched for other times. */
export const ALTERNATIVE_DAYS = 14

export type Placement = {
  readonly doctor: string
  /** Clinic-local `Y-m-d`. */
  readonly date: string
  /** Clinic-local `HH:MM`. */
  readonly startTime: string
  /** Null for the time that the treatments take together. */
  readonly minutes: number | null
  readonly treatments: readonly string[]
  readonly room: string | null
}

/** The clinic's zone, and its wall clock at the time of the request. */
export type Moment = { readonly timezone: string; readonly clock: WallClock }

/** The stored facts about the doctor, the treatments, the room, and their requested day. */
export type PlacementFacts = {
  readonly doctor: Doctor | null
  /** Time that other appointments of the doctor take on the requested date. */
  readonly busy: readonly Interval[]
  readonly treatments: ReadonlyMap<string, Treatment>
  readonly room: Room | null
  /** Time that other appointments take in the room on the requested date. */
  readonly roomBusy: readonly Interval[]
}

/** A part of a request that no appointment can have. `index` is the position of a treatment. */
export type PlacementProblem =
  | { readonly kind: 'inactive_treatment' | 'treatment_not_offered'; readonly index: number }
  | { readonly kind: 'treatments_too_long' | 'inactive_room' | 'end_differs' | 'length_out_of_range' }

export type PlacementRejection =
  | { readonly kind: 'doctor_not_found' | 'room_not_found' }
  /** `indexes` are the positions of the unknown treatments. */
  | { readonly kind: 'treatment_not_found'; readonly indexes: readonly number[] }
  | { readonly kind: 'patient_inactive' }
  | { readonly kind: 'invalid'; readonly problems: readonly PlacementProblem[] }
  | { readonly kind: 'in_past' }
  | { readonly kind: 'outside_hours'; readonly reason: ClosedReason }
  /** The doctor has another appointment. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'room_taken' }

/** The parts of a placement that are checked: a move leaves the others as they were booked. */
export type PlacementParts = {
  readonly time: boolean
  readonly room: boolean
  readonly treatments: boolean
}

export const WHOLE_PLACEMENT: PlacementParts = { time: true, room: true, treatments: true }

/** Why an appointment cannot take place; null when it can. */
export function placementRejection(
  placement: Placement,
  facts: PlacementFacts,
  { timezone, clock }: Moment,
  parts = WHOLE_PLACEMENT,
): PlacementRejection | null {
  const { doctor, busy, roomBusy } = facts
  if (parts.time && !doctor) return { kind: 'doctor_not_found' }
  const { treatments: ids, room } = placement
  const indexes = [...ids.keys()].filter((index) => !facts.treatments.has(ids[index] ?? ''))
  if (parts.treatments && indexes.length > 0) return { kind: 'treatment_not_found', indexes }
  if (parts.room && room !== null && !facts.room) return { kind: 'room_not_found' }
  const problems = [
    ...(parts.treatments ? treatmentProblems(placement, facts) : []),
    ...(parts.room && facts.room?.isActive === false ? [{ kind: 'inactive_room' as const }] : []),
  ]
  if (problems.length > 0) return { kind: 'invalid', problems }
  const interval = intervalOf(placement, facts)
  const day = doctor && { doctor, date: placement.date, timezone, busy }
  const rejection = parts.time && day ? bookingRejection(day, interval, clock) : null
  if (day && rejection)
    return rejection === 'outside_hours'
      ? { kind: rejection, reason: closedReason(day, interval) }
      : { kind: rejection }
  const isRoomTaken = parts.room && roomBusy.some((taken) => overlaps(taken, interval))
  return isRoomTaken ? { kind: 'room_taken' } : null
}

function treatmentProblems(
  { doctor, minutes, treatments: ids }: Placement,
  { treatments }: PlacementFacts,
): PlacementProblem[] {
  const problems = ids.flatMap((id, index): PlacementProblem[] => {
    const treatment = treatments.get(id)
    if (!treatment?.isActive) return [{ kind: 'inactive_treatment', index }]
    return treatment.doctorIds.includes(doctor) ? [] : [{ kind: 'treatment_not_offered', index }]
  })
  const isTooLong = minutes === null && totalMinutes(ids, treatments) > MAX_DURATION
  return isTooLong ? [...problems, { kind: 'treatments_too_long' }] : problems
}

/** The first reason to reject: an unknown id, then an inactive patient, then everything else. */
export function rejectionFor(
  patient: Pick<Patient, 'isActive'>,
  rejection: PlacementRejection | null,
): PlacementRejection | null {
  return patient.isActive || (rejection && isUnknownId(rejection)) ? rejection : { kind: 'patient_inactive' }
}

const UNKNOWN_IDS = ['doctor_not_found', 'treatment_not_found', 'room_not_found'] as const

/** Whether the clinic does not have a doctor, treatment or room: this is rejected before anything else. */
export const isUnknownId = <Verdict extends { readonly kind: string }>(
  verdict: Verdict,
): verdict is Extract<Verdict, { kind: (typeof UNKNOWN_IDS)[number] }> =>
  UNKNOWN_IDS.some((kind) => kind === verdict.kind)

/** When the appointment would take place. */
export function intervalOf(
  { startTime, minutes, treatments: ids }: Placement,
  { treatments }: Pick<PlacementFacts, 'treatments'>,
): Interval {
  const from = parseTime(startTime)
  return { from, to: from + (minutes ?? totalMinutes(ids, treatments)) }
}

/** Where and when a placement that is possible takes place, with the names of doctor and room. */
export const placedFields = (
  placement: Placement,
  { doctor, room, treatments }: Pick<PlacementFacts, 'room' | 'treatments'> & { readonly doctor: Doctor },
): Pick<Appointment, 'doctor' | 'date' | 'startTime' | 'endTime' | 'room'> => ({
  doctor: { id: doctor.id, fullName: doctor.fullName },
  date: placement.date,
  startTime: placement.startTime,
  endTime: formatTime(intervalOf(placement, { treatments }).to),
  room: room && { id: room.id, name: room.name },
})

const totalMinutes = (ids: readonly string[], treatments: PlacementFacts['treatments']): number =>
  ids.reduce((sum, id) => sum + (treatments.get(id)?.minutes ?? 0), 0)

/**
 * The next times at which doctor and room are free, of the requested length, at most three: later on the requested date,
 * then on the {@link ALTERNATIVE_DAYS} days after it. `busyOn` returns the time that is taken on a date.
 */
export function alternativesTo(
  placement: Placement,
  facts: Pick<PlacementFacts, 'treatments'> & { readonly doctor: Doctor },
  { timezone, clock }: Moment,
  busyOn: (date: string) => readonly Interval[],
): DatedSlot[] {
  const { date } = placement
  const day = { doctor: facts.doctor, date, timezone, busy: busyOn(date) }
  return nextFreeSlots(day, busyOn, intervalOf(placement, facts), ALTERNATIVE_DAYS, clock)
}
