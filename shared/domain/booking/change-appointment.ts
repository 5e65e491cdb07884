/** Decides on a change of an appointment: a move, and other fields. */

import { formatTime, overlaps, parseTime } from '../interval.ts'
import { fullName, type Patient } from '../patients/patient.ts'
import type { Appointment, CatalogueReference } from './appointment.ts'
import {
  intervalOf,
  isUnknownId,
  MAX_DURATION,
  MIN_DURATION,
  type Moment,
  type Placement,
  type PlacementFacts,
  type PlacementParts,
  type PlacementProblem,
  type PlacementRejection,
  placementRejection,
  rejectionFor,
} from './placement.ts'

/** The fields to change. Those that are undefined stay as they are. */
export type AppointmentChanges = {
  readonly doctor?: string | undefined
  readonly date?: string | undefined
  readonly startTime?: string | undefined
  readonly minutes?: number | undefined
  readonly endTime?: string | undefined
  readonly treatments?: readonly string[] | undefined
  readonly room?: string | null | undefined
  readonly notes?: string | null | undefined
  readonly externalId?: string | null | undefined
}

/** The stored facts about the patient, and about the parts that the change moves. */
export type ChangeFacts = PlacementFacts & { readonly patient: Patient | null }

export type ChangeVerdict =
  /** If nothing changes, the appointment is the one before. */
  | { readonly kind: 'done'; readonly appointment: Appointment }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'closed' }
  | PlacementRejection

/** Where the changes would move an appointment. Its length stays, if they name neither another one nor an end. */
export function targetOf(before: Appointment, changes: AppointmentChanges): Placement {
  const startTime = changes.startTime ?? before.startTime
  return {
    doctor: changes.doctor ?? before.doctor.id,
    date: changes.date ?? before.date,
    startTime,
    minutes: requestedMinutes(startTime, changes) ?? lengthOf(before.startTime, before.endTime),
    treatments: changes.treatments ?? before.treatments.map(({ id }) => id),
    room: changes.room === undefined ? (before.room?.id ?? null) : changes.room,
  }
}

/** The length that a request names, itself or by its end; undefined if it names neither. */
export const requestedMinutes = (
  startTime: string,
  { minutes, endTime }: Pick<AppointmentChanges, 'minutes' | 'endTime'>,
): number | undefined => minutes ?? (endTime === undefined ? undefined : lengthOf(startTime, endTime))

/** The length of an interval in minutes; not positive if it ends before it begins. */
const lengthOf = (startTime: string, endTime: string): number => parseTime(endTime) - parseTime(startTime)

/**
 * The parts of an appointment for which a move to `target` needs something that it did not have: these are checked. A room is checked again at
 * another time, and treatments with another doctor. A shorter time, no room and fewer treatments only release something.
 */
export function movedParts(before: Appointment, target: Placement): PlacementParts {
  const { doctor, date, startTime, minutes, treatments, room } = targetOf(before, {})
  const isOtherDoctor = target.doctor !== doctor
  const isLonger = (target.minutes ?? 0) > (minutes ?? 0)
  const isOtherTime = target.date !== date || target.startTime !== startTime || isLonger
  return {
    time: isOtherDoctor || isOtherTime,
    room: target.room !== null && (target.room !== room || isOtherTime),
    treatments: isOtherDoctor || target.treatments.some((id) => !treatments.includes(id)),
  }
}

/**
 * Decides on a change. Each part that moves is checked as in a booking; the other parts keep what was booked, even if that
 * could not be booked now. The external id alone can be changed in any status. An appointment of an erased patient counts as not found.
 */
export function changeAppointment(
  before: Appointment,
  changes: AppointmentChanges,
  facts: ChangeFacts,
  moment: Moment,
): ChangeVerdict {
  if (!facts.patient || facts.patient.erasedAt) return { kind: 'not_found' }
  const problems = lengthProblems(before, changes)
  const target = targetOf(before, changes)
  const parts = movedParts(before, target)
  const notes = changes.notes === undefined ? before.notes : changes.notes
  const isSame = JSON.stringify(target) === JSON.stringify(targetOf(before, {})) && notes === before.notes
  const externalId = changes.externalId === undefined ? before.externalId : changes.externalId
  if (isSame && problems.length === 0)
    return {
      kind: 'done',
      appointment: externalId === before.externalId ? before : { ...before, externalId },
    }
  const isMove = parts.time || parts.room || parts.treatments
  const rejection = isMove && rejectionFor(facts.patient, placementRejection(target, facts, moment, parts))
  if (rejection && isUnknownId(rejection)) return rejection
  if (before.status !== 'scheduled') return { kind: 'closed' }
  if (problems.length > 0) return { kind: 'invalid', problems }
  if (rejection) return rejection
  return {
    kind: 'done',
    appointment: { ...before, ...movedFields(before, target, parts, facts), notes, externalId },
  }
}

/** The parts of a placement that {@link reopenAppointment} checks. */
export const REOPENED_PARTS: PlacementParts = { time: true, room: true, treatments: false }

/**
 * Decides on undoing a completion or a no-show. Everything was booked before, so that only overlaps with appointments that were
 * booked since are checked. A cancellation is final, as is what remains of an erased patient.
 */
export function reopenAppointment(
  before: Appointment,
  { patient, busy, roomBusy }: Pick<ChangeFacts, 'patient' | 'busy' | 'roomBusy'>,
): ChangeVerdict {
  if (!patient || patient.erasedAt || before.status === 'cancelled') return { kind: 'closed' }
  if (before.status === 'scheduled') return { kind: 'done', appointment: before }
  const interval = { from: parseTime(before.startTime), to: parseTime(before.endTime) }
  if (busy.some((taken) => overlaps(taken, interval))) return { kind: 'taken' }
  if (roomBusy.some((taken) => overlaps(taken, interval))) return { kind: 'room_taken' }
  return { kind: 'done', appointment: { ...before, status: 'scheduled' } }
}

function lengthProblems(before: Appointment, { startTime, minutes, endTime }: AppointmentChanges) {
  if (endTime === undefined) return []
  return endProblems(startTime ?? before.startTime, endTime, minutes)
}

/** Problems with an end time, with or without a length. */
export function endProblems(startTime: string, endTime: string, minutes?: number): PlacementProblem[] {
  const length = lengthOf(startTime, endTime)
  if (minutes !== undefined) return length === minutes ? [] : [{ kind: 'end_differs' }]
  return length < MIN_DURATION || length > MAX_DURATION ? [{ kind: 'length_out_of_range' }] : []
}

/** The fields that a move changes. Rooms and treatments that stay keep their names as booked. */
function movedFields(
  before: Appointment,
  target: Placement,
  parts: PlacementParts,
  facts: ChangeFacts,
): Partial<Appointment> {
  const { patient, doctor, room, treatments } = facts
  const booked = new Map(before.treatments.map((treatment) => [treatment.id, treatment]))
  return {
    date: target.date,
    startTime: target.startTime,
    endTime: formatTime(intervalOf(target, facts).to),
    // A refresh of the copies of a name may miss an appointment that moves at the same time.
    ...(patient && { patient: { id: patient.id, fullName: fullName(patient) } }),
    ...(parts.time && doctor && { doctor: { id: doctor.id, fullName: doctor.fullName } }),
    ...(target.room !== (before.room?.id ?? null) && {
      room: target.room !== null && room ? referenceTo(room) : null,
    }),
    treatments: target.treatments.map((id) => booked.get(id) ?? { id, name: treatments.get(id)?.name ?? '' }),
    ...outdatedFields(before, { ...target, status: before.status }),
  }
}

/** The fields that are cleared at another time, because the patient confirmed the earlier one, or when a cancellation is undone. */
export const outdatedFields = (
  before: Appointment,
  after: Pick<Appointment, 'date' | 'startTime' | 'status'>,
): Partial<Appointment> => ({
  ...((after.date !== before.date || after.startTime !== before.startTime) && {
    confirmedAt: null,
    checkedInAt: null,
  }),
  ...(before.status === 'cancelled' &&
    after.status !== 'cancelled' && { cancelledAt: null, cancellationReason: null }),
})

const referenceTo = ({ id, name }: CatalogueReference): CatalogueReference => ({ id, name })
