import * as z from 'zod'
import type { Appointment as AppointmentRecord } from '../domain/booking/appointment.ts'
import { cancellationReason } from '../domain/patients/text-fields.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { Appointment, appointmentReference } from './appointments.ts'
import { ApiError } from './errors.ts'
import { defineRoute, type Route } from './route.ts'
import { envelopeOf, Timestamp } from './schemas.ts'

/** What all actions share. */
const ACTION = {
  method: 'POST',
  readScope: 'appointment.read',
  params: { id: 'appointment_not_found' },
  response: { status: 200, body: envelopeOf(Appointment), record: { reference: appointmentReference } },
  errors: ['appointment_not_found', 'precondition_failed', 'appointment_closed'],
} as const satisfies Partial<Route>

const errorsWhenDue = [...ACTION.errors, 'appointment_not_due'] as const

const REPEATABLE =
  'Repeating it changes nothing. If the appointment was closed in another way, the response is a 409.'

const NoFields = z.strictObject({}).meta({ id: 'AppointmentAction' })

export const confirmAppointment = defineRoute({
  ...ACTION,
  id: 'confirm-appointment',
  path: '/appointments/{id}/confirm',
  summary: 'Confirm an appointment',
  description:
    'Records that the patient has confirmed a scheduled appointment: sets `confirmed_at`, and leaves the status unchanged. ' +
    'Repeating it changes nothing.',
  scope: 'appointment.write',
  body: NoFields,
})

export const cancelAppointment = defineRoute({
  ...ACTION,
  id: 'cancel-appointment',
  path: '/appointments/{id}/cancel',
  summary: 'Cancel an appointment',
  description: `Cancels a scheduled appointment and frees the time of the doctor and the room. ${REPEATABLE}`,
  scope: 'appointment.write',
  body: z.strictObject({ reason: cancellationReason().nullish() }).meta({ id: 'Cancellation' }),
})

export const checkInAppointment = defineRoute({
  ...ACTION,
  id: 'check-in-appointment',
  path: '/appointments/{id}/check-in',
  summary: 'Check in a patient',
  description:
    'Records that the patient of a scheduled appointment has arrived: sets `checked_in_at`, and leaves the status unchanged. ' +
    "Possible from the day of the appointment on, in the clinic's time zone. Repeating it changes nothing.",
  errors: errorsWhenDue,
  scope: 'appointment.write.status',
  body: NoFields,
})

export const completeAppointment = defineRoute({
  ...ACTION,
  id: 'complete-appointment',
  path: '/appointments/{id}/complete',
  summary: 'Complete an appointment',
  description:
    "Records that a scheduled appointment took place. Possible from its day on, in the clinic's time zone. " +
    REPEATABLE,
  errors: errorsWhenDue,
  scope: 'appointment.write.status',
  body: NoFields,
})

export const noShowAppointment = defineRoute({
  ...ACTION,
  id: 'no-show-appointment',
  path: '/appointments/{id}/no-show',
  summary: 'Record a no-show',
  description:
    'Records that the patient of a scheduled appointment did not come, and frees the time of the doctor and the room. ' +
    `Possible from its start on. ${REPEATABLE}`,
  errors: errorsWhenDue,
  scope: 'appointment.write.status',
  body: NoFields,
})

export const reopenAppointment = defineRoute({
  ...ACTION,
  id: 'reopen-appointment',
  path: '/appointments/{id}/reopen',
  summary: 'Reopen an appointment',
  description:
    'Undoes a completion or a no-show: the appointment is scheduled again, and `checked_in_at` stays. A missed appointment takes ' +
    'its time again, in the past too; if the doctor or the room has another appointment then, the response is a 409 that lists ' +
    'up to three of the next free slots. Working hours are not checked, nor whether doctor and patient are active. A scheduled ' +
    'appointment stays as it is; a cancelled one, or one of an erased patient, cannot be reopened.',
  scope: 'appointment.write.status',
  body: NoFields,
  errors: [...ACTION.errors, 'slot_unavailable', 'room_unavailable'],
})

/** What is wrong with an action that came too early. */
export const NotDueIssue = z
  .strictObject({
    field: z.literal('appointment_date'),
    issue: z.string(),
    from: Timestamp,
  })
  .meta({ id: 'NotDueIssue' })

type Rejection =
  | { readonly kind: 'closed' | 'not_found' }
  /** `from` is an instant. */
  | { readonly kind: 'not_due'; readonly from: string }

/** The appointment after an action. @throws ApiError when the action was rejected */
export function requireChanged<A extends AppointmentRecord>(
  outcome: { readonly kind: 'done'; readonly appointment: A } | Rejection,
  timezone: string,
): A {
  if (outcome.kind === 'done') return outcome.appointment
  if (outcome.kind === 'not_due')
    throw new ApiError('appointment_not_due', {
      details: [
        {
          field: 'appointment_date',
          issue: 'must not be in the future',
          from: clinicTimestamp(outcome.from, timezone),
        } satisfies z.input<typeof NotDueIssue>,
      ],
    })
  throw new ApiError(outcome.kind === 'closed' ? 'appointment_closed' : 'appointment_not_found')
}
