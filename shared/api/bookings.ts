/** Booking and changing appointments. */
import * as z from 'zod'
import { endProblems, requestedMinutes } from '../domain/booking/change-appointment.ts'
import type { Hold } from '../domain/booking/hold.ts'
import {
  MAX_DURATION,
  MAX_TREATMENTS,
  MIN_DURATION,
  type Placement,
  type PlacementProblem,
  type PlacementRejection,
} from '../domain/booking/placement.ts'
import { CLOSED_REASONS, type DatedSlot } from '../domain/booking/slots.ts'
import { formatTime, parseTime } from '../domain/interval.ts'
import { externalId, notes } from '../domain/patients/text-fields.ts'
import { LAST_DATE } from '../domain/timestamp.ts'
import { Appointment, appointmentReference } from './appointments.ts'
import { DurationMinutes } from './availability.ts'
import type { ErrorKey } from './error-catalogue.ts'
import { ApiError, type FieldIssue, unknownIds } from './errors.ts'
import { defineRoute } from './route.ts'
import { CalendarDate, envelopeOf, oneOf, RecordDate, TimeOfDay, Uuid, whenValid } from './schemas.ts'

/** One of the next free slots, listed in the `details` of a 409. */
export const Alternative = z
  .strictObject({ appointment_date: CalendarDate, start_time: TimeOfDay, end_time: TimeOfDay })
  .meta({ id: 'Alternative' })

export const renderAlternative = ({ date, from, to }: DatedSlot): z.input<typeof Alternative> => ({
  appointment_date: date,
  start_time: formatTime(from),
  end_time: formatTime(to),
})

/** The errors of a request for a time of a doctor. */
export const PLACEMENT_ERRORS = [
  'doctor_not_found',
  'treatment_not_found',
  'room_not_found',
  'slot_unavailable',
  'room_unavailable',
  'outside_working_hours',
  'appointment_in_past',
] as const satisfies ErrorKey[]

const Notes = notes().nullish()

const TreatmentIds = z
  .array(Uuid, { error: 'must be a list of ids of treatments' })
  .max(MAX_TREATMENTS, { error: `must name at most ${MAX_TREATMENTS} treatments` })
  .refine((ids) => new Set(ids).size === ids.length, { error: 'must not name a treatment twice' })
  .optional()
  .meta({ uniqueItems: true })

const PROBLEMS: Record<PlacementProblem['kind'], { readonly field: string; readonly issue: string }> = {
  inactive_treatment: { field: 'treatment_ids', issue: 'is not an active treatment' },
  treatment_not_offered: { field: 'treatment_ids', issue: 'is not offered by the doctor' },
  treatments_too_long: {
    field: 'treatment_ids',
    issue: `must take at most ${MAX_DURATION} minutes together, unless duration is sent`,
  },
  inactive_room: { field: 'room_id', issue: 'is not an active room' },
  end_differs: { field: 'end_time', issue: 'must be start_time plus duration' },
  length_out_of_range: {
    field: 'end_time',
    issue: `must be ${MIN_DURATION} to ${MAX_DURATION} minutes after start_time`,
  },
}

function renderProblem(problem: PlacementProblem): FieldIssue {
  const { field, issue } = PROBLEMS[problem.kind]
  return { field: 'index' in problem ? `${field}.${problem.index}` : field, issue }
}

type NewTimes = {
  readonly start_time?: string
  readonly end_time?: string | undefined
  readonly duration?: number | undefined
}

/** Checks that the end of a new appointment fits its start and length. */
export const validEnd = (kind: 'end_differs' | 'length_out_of_range') =>
  [
    (body: Readonly<Record<string, unknown>>): boolean => {
      const { start_time, end_time, duration } = body as NewTimes
      if (start_time === undefined || end_time === undefined) return true
      return endProblems(start_time, end_time, duration)[0]?.kind !== kind
    },
    {
      path: [PROBLEMS[kind].field],
      error: PROBLEMS[kind].issue,
      when: whenValid('start_time', 'end_time', 'duration'),
    },
  ] satisfies Parameters<z.ZodObject['refine']>

const LENGTH_AND_ROOM = {
  duration: DurationMinutes.optional(),
  end_time: TimeOfDay.optional(),
  treatment_ids: TreatmentIds,
  room_id: Uuid.nullish(),
}

/** The fields of a request for a time. */
export const NewTime = {
  doctor_id: Uuid,
  appointment_date: RecordDate,
  start_time: TimeOfDay,
  ...LENGTH_AND_ROOM,
}

/** What a booking can have, and a change can set. */
const OPTIONAL_FIELDS = {
  ...LENGTH_AND_ROOM,
  notes: Notes,
  external_id: externalId().nullish(),
}

const requiredWithoutHold = (field: 'doctor_id' | 'appointment_date' | 'start_time') =>
  [
    (body: Readonly<Record<string, unknown>>): boolean =>
      body[field] !== undefined || body.hold_id !== undefined,
    { path: [field], error: 'is required', when: whenValid(field, 'hold_id') },
  ] satisfies Parameters<z.ZodObject['refine']>

export const createAppointment = defineRoute({
  id: 'create-appointment',
  method: 'POST',
  path: '/appointments',
  summary: 'Book an appointment',
  description:
    'Books any time that fits, not only the slots that `GET /availability` lists. Every listed slot can be booked. The ' +
    "appointment must lie within the doctor's working hours, outside breaks and time off, start in the future, end by 23:59, " +
    'and overlap no scheduled or completed appointment and no hold of the doctor or the room. Dates and times are in the ' +
    "clinic's time zone. If several requests for overlapping times arrive, exactly one succeeds; the others receive a 409 that " +
    'lists up to three of the next free slots of the doctor, and of the room, in `details`.',
  scope: 'appointment.write',
  readScope: 'appointment.read',
  body: z
    .strictObject({
      patient_id: Uuid,
      doctor_id: Uuid.optional(),
      appointment_date: RecordDate.optional(),
      start_time: TimeOfDay.optional(),
      hold_id: Uuid.optional(),
      ...OPTIONAL_FIELDS,
    })
    .refine(...requiredWithoutHold('doctor_id'))
    .refine(...requiredWithoutHold('appointment_date'))
    .refine(...requiredWithoutHold('start_time'))
    .refine(...validEnd('end_differs'))
    .refine(...validEnd('length_out_of_range'))
    .meta({ id: 'AppointmentCreate' }),
  response: {
    status: 201,
    body: envelopeOf(Appointment),
    record: { reference: appointmentReference },
    location: '/appointments',
  },
  errors: [
    ...PLACEMENT_ERRORS,
    'patient_not_found',
    'patient_inactive',
    'external_id_taken',
    'hold_not_found',
    'hold_expired',
  ],
})

export const updateAppointment = defineRoute({
  id: 'update-appointment',
  method: 'PATCH',
  path: '/appointments/{id}',
  summary: 'Update an appointment',
  description:
    'Changes only the fields that are sent, and only while the appointment is scheduled. A move to another time, doctor or ' +
    'room is subject to the rules of a booking, and frees the old time. If the new time is taken, nothing changes, and the ' +
    'response is a 409 that lists up to three of the next free slots. Without `duration` and `end_time`, the length stays. ' +
    'Another date or start time clears `confirmed_at` and `checked_in_at`. Only what changes is checked: the notes of a past ' +
    'appointment can be changed, and for inactive patients and doctors too, the time can be shortened at its end, and the room ' +
    'or treatments removed. `external_id` alone can be changed in any status.',
  scope: 'appointment.write',
  readScope: 'appointment.read',
  params: { id: 'appointment_not_found' },
  body: z
    .strictObject({
      doctor_id: Uuid.optional(),
      appointment_date: RecordDate.optional(),
      start_time: TimeOfDay.optional(),
      ...OPTIONAL_FIELDS,
    })
    .meta({ id: 'AppointmentChanges' }),
  response: { status: 200, body: envelopeOf(Appointment), record: { reference: appointmentReference } },
  errors: [
    ...PLACEMENT_ERRORS,
    'appointment_not_found',
    'precondition_failed',
    'external_id_taken',
    'appointment_closed',
    'patient_inactive',
  ],
})

type RequestedTime = NewTimes & {
  readonly doctor_id?: string | undefined
  readonly appointment_date?: string | undefined
  readonly treatment_ids?: readonly string[] | undefined
  readonly room_id?: string | null | undefined
}

/** The placement that a request asks for. */
export async function requestedPlacement(
  body: RequestedTime,
  defaultDuration: () => Promise<number>,
): Promise<Placement> {
  const { doctor_id = '', appointment_date = '', start_time = '', treatment_ids = [], room_id = null } = body
  const sent = requestedMinutes(start_time, { minutes: body.duration, endTime: body.end_time })
  return {
    doctor: doctor_id,
    date: appointment_date,
    startTime: start_time,
    minutes: sent ?? (treatment_ids.length > 0 ? null : await defaultDuration()),
    treatments: treatment_ids,
    room: room_id,
  }
}

/** A request with the time of its hold. @throws ApiError that names the fields in which the request differs from it */
export function withHeldTime(body: RequestedTime, hold: Hold): RequestedTime {
  const held = {
    doctor_id: hold.doctor.id,
    appointment_date: hold.date,
    start_time: hold.startTime,
    end_time: hold.endTime,
    duration: parseTime(hold.endTime) - parseTime(hold.startTime),
    room_id: hold.room?.id ?? null,
  }
  const differing = Object.entries(held).filter(([name, value]) => {
    const sent = body[name as keyof typeof held]
    return sent !== undefined && sent !== value
  })
  if (differing.length === 0) return { ...body, ...held }
  const issue = 'must be that of the hold, or left out'
  throw new ApiError('validation', { details: differing.map(([field]) => ({ field, issue })) })
}

/** Why a time is outside working hours, in the `details` of a 422. */
export const OutsideHours = z
  .strictObject({
    field: z.literal('start_time'),
    reason: oneOf(CLOSED_REASONS),
  })
  .meta({ id: 'OutsideHours' })

/** The error for a time, doctor, treatment or room that an appointment cannot have. */
export function rejectionError(
  rejection: Exclude<PlacementRejection, { readonly kind: 'taken' | 'room_taken' }>,
): ApiError {
  switch (rejection.kind) {
    case 'invalid':
      return new ApiError('validation', { details: rejection.problems.map(renderProblem) })
    case 'doctor_not_found':
      return unknownIds(rejection.kind, 'doctor_id')
    case 'room_not_found':
      return unknownIds(rejection.kind, 'room_id')
    case 'treatment_not_found':
      return unknownIds(rejection.kind, ...rejection.indexes.map((index) => `treatment_ids.${index}`))
    case 'outside_hours': {
      const detail: z.input<typeof OutsideHours> = { field: 'start_time', reason: rejection.reason }
      return new ApiError('outside_working_hours', { details: [detail] })
    }
    case 'in_past':
      return new ApiError('appointment_in_past')
    case 'patient_inactive':
      return new ApiError('patient_inactive')
  }
}

type Taken = { readonly kind: 'taken' | 'room_taken'; readonly alternatives: readonly DatedSlot[] }

/** The 409 for a taken time of the doctor or the room. */
export const takenError = ({ kind, alternatives }: Taken): ApiError =>
  new ApiError(kind === 'taken' ? 'slot_unavailable' : 'room_unavailable', {
    details: alternatives.map(renderAlternative),
  })

const WITHOUT_HOLD = 'Required without `hold_id`.'
const TREATMENTS = 'Ids of active treatments that the doctor offers.'

/** What the fields of a request for a time mean. */
export const timeDescriptions = {
  appointment_date: `Date, in the clinic's time zone. Must not be after ${LAST_DATE}.`,
  duration: "Length in minutes. Defaults to the time that the treatments take, or to the clinic's setting.",
  end_time: 'End, `HH:MM`, on the same day. Can be sent instead of `duration`.',
  treatment_ids: TREATMENTS,
  room_id: 'Id of an active room.',
}

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const bookingDescriptions = () => ({
  AppointmentCreate: {
    patient_id: 'Id of an active patient.',
    hold_id:
      'Id of a hold, which the booking ends. The doctor, date, start, length and room are those of the hold: leave them out.',
    ...timeDescriptions,
    doctor_id: `Id of the doctor. ${WITHOUT_HOLD}`,
    appointment_date: `${timeDescriptions.appointment_date} ${WITHOUT_HOLD}`,
    start_time: `Start, \`HH:MM\`, in the clinic's time zone. ${WITHOUT_HOLD}`,
    notes: 'Notes.',
    external_id:
      'Id in another system, unique among the appointments of the clinic, imported ones included, and not the id of another one. Visible characters, with single spaces between them.',
  },
  AppointmentChanges: {
    ...timeDescriptions,
    doctor_id: 'Id of the doctor that the appointment moves to.',
    duration: 'Length in minutes. Without `duration` and `end_time`, the length stays.',
    treatment_ids: `${TREATMENTS} An empty list removes them.`,
    room_id: 'Id of an active room. Null removes the room.',
    notes: 'Notes. Null removes them.',
    external_id: 'Id in another system, unique among the appointments of the clinic. Null removes it.',
  },
})
