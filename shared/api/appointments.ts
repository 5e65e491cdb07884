import * as z from 'zod'
import { APPOINTMENT_STATUSES, type Appointment as AppointmentRecord } from '../domain/booking/appointment.ts'
import type { ClinicInfo } from '../domain/clinic.ts'
import { externalId } from '../domain/patients/text-fields.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import { expandPatient, Patient } from './patients.ts'
import { order, recordListOf, recordListQuery } from './record-lists.ts'
import { defineRoute, type RecordReference } from './route.ts'
import {
  CalendarDate,
  CatalogueReference,
  envelopeOf,
  oneOf,
  PersonRef,
  queryBoolean,
  renderCatalogueReference,
  renderPersonRef,
  requiredRange,
  sentFields,
  someOf,
  TimeOfDay,
  Timestamp,
  Uuid,
  validDateRange,
} from './schemas.ts'

/** An appointment as the API returns it. */
export const Appointment = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      patient: PersonRef,
      doctor: PersonRef,
      appointment_date: CalendarDate,
      start_time: TimeOfDay,
      end_time: TimeOfDay,
      status: oneOf(APPOINTMENT_STATUSES),
      notes: z.string().nullable(),
      treatments: z.array(CatalogueReference),
      room: CatalogueReference.nullable(),
      confirmed_at: Timestamp.nullable(),
      checked_in_at: Timestamp.nullable(),
      cancelled_at: Timestamp.nullable(),
      cancellation_reason: z.string().nullable(),
      external_id: z.string().nullable(),
      created_at: Timestamp,
      updated_at: Timestamp,
    })
    .meta({ id: 'Appointment' }),
)

type Rendered = z.input<typeof Appointment>

export const renderAppointment = (
  appointment: WithUpdatedAt<AppointmentRecord>,
  { timezone }: Pick<ClinicInfo, 'timezone'>,
): z.input<typeof Appointment> => ({
  id: appointment.id,
  patient: renderPersonRef(appointment.patient),
  doctor: renderPersonRef(appointment.doctor),
  appointment_date: appointment.date,
  start_time: appointment.startTime,
  end_time: appointment.endTime,
  status: appointment.status,
  notes: appointment.notes,
  treatments: appointment.treatments.map(renderCatalogueReference),
  room: appointment.room && renderCatalogueReference(appointment.room),
  confirmed_at: nullableTimestamp(appointment.confirmedAt, timezone),
  checked_in_at: nullableTimestamp(appointment.checkedInAt, timezone),
  cancelled_at: nullableTimestamp(appointment.cancelledAt, timezone),
  cancellation_reason: appointment.cancellationReason,
  external_id: appointment.externalId,
  created_at: clinicTimestamp(appointment.createdAt, timezone),
  updated_at: clinicTimestamp(appointment.updatedAt, timezone),
})

const IN_REFERENCES = {
  id: true,
  status: true,
  confirmed_at: true,
  checked_in_at: true,
  cancelled_at: true,
  created_at: true,
  updated_at: true,
} as const

const IdOnly = z.strictObject({ id: Uuid }).meta({ id: 'IdReference' })

/** A change of an appointment shows this to a credential that may not read appointments. */
export const appointmentReference: RecordReference = {
  schema: z.lazy(() =>
    z
      .strictObject(
        Appointment.unwrap()
          .partial()
          .required(IN_REFERENCES)
          .extend({
            patient: IdOnly.optional(),
            doctor: IdOnly.optional(),
            treatments: z.array(IdOnly).optional(),
            room: IdOnly.nullable().optional(),
          }).shape,
      )
      .meta({
        id: 'AppointmentReference',
        description:
          'Without `appointment.read`, of the optional fields only those that the request had, and ids for names.',
      }),
  ),
  of: (record, sent) => {
    const { patient, doctor, treatments, room, end_time, cancellation_reason } = record as Rendered
    const has = (name: string) => Object.hasOwn(sent, name)
    return {
      ...sentFields(record, sent, Object.keys(IN_REFERENCES)),
      ...(has('patient_id') && { patient: { id: patient.id } }),
      ...(has('doctor_id') && { doctor: { id: doctor.id } }),
      ...(has('duration') && has('start_time') && { end_time }),
      ...(has('treatment_ids') && { treatments: treatments.map(({ id }) => ({ id })) }),
      ...(has('room_id') && { room: room && { id: room.id } }),
      // An appointment that was cancelled before keeps its reason.
      ...('reason' in sent && sent.reason === cancellation_reason && { cancellation_reason }),
    }
  },
}

const nullableTimestamp = (instant: string | null, timezone: string): string | null =>
  instant === null ? null : clinicTimestamp(instant, timezone)

/** With `expand`, the patient is shown as lists of patients show it. */
const ExpandableAppointment = z.lazy(() =>
  z
    .strictObject({ ...Appointment.unwrap().shape, patient: z.union([PersonRef, Patient]) })
    .meta({ id: 'ExpandableAppointment' }),
)

export const listAppointments = defineRoute({
  id: 'list-appointments',
  method: 'GET',
  path: '/appointments',
  summary: 'List appointments',
  description:
    'Sorted by date and start time, newest first by default. Filters can be combined. `date_from` and `date_to` are inclusive ' +
    "and in the clinic's time zone. Filtering by an unknown id returns an empty list. `external_id` finds the one appointment " +
    'with this id, and is sent alone, or with `limit` and `expand`. `outside_hours` lists scheduled appointments during which the ' +
    'doctor does not work.',
  scope: 'appointment.read',
  parameterScopes: expandPatient.scopes,
  query: recordListQuery({
    ...expandPatient.parameters(),
    patient_id: Uuid.optional(),
    doctor_id: Uuid.optional(),
    room_id: Uuid.optional(),
    status: someOf(APPOINTMENT_STATUSES).optional(),
    date_from: CalendarDate.optional(),
    date_to: CalendarDate.optional(),
    external_id: externalId().optional(),
    outside_hours: queryBoolean()
      .transform((isAsked) => isAsked || undefined)
      .optional(),
    order: order(),
  })
    .refine(...validDateRange('date_from', 'date_to'))
    .refine(...requiredRange('outside_hours', 'date_from', 'date_to'))
    .refine(...requiredRange('room_id', 'date_from', 'date_to')),
  response: { status: 200, body: recordListOf(ExpandableAppointment) },
  errors: ['invalid_cursor', 'range_required'],
})

/** The filter of the list, from the parameters of a query. */
export const appointmentFilter = ({ status, ...query }: z.output<typeof listAppointments.query>) => ({
  patient: query.patient_id,
  doctor: query.doctor_id,
  room: query.room_id,
  facets: query.outside_hours
    ? (status ?? (['scheduled'] as const)).filter((one) => one === 'scheduled')
    : status,
  from: query.date_from,
  to: query.date_to,
  externalId: query.external_id,
  order: query.order,
})

export const getAppointment = defineRoute({
  id: 'get-appointment',
  method: 'GET',
  path: '/appointments/{id}',
  summary: 'Retrieve an appointment',
  scope: 'appointment.read',
  parameterScopes: expandPatient.scopes,
  params: { id: 'appointment_not_found' },
  query: z.strictObject(expandPatient.parameters()),
  response: { status: 200, body: envelopeOf(ExpandableAppointment), record: {} },
  errors: ['appointment_not_found'],
})

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const appointmentDescriptions = () => ({
  Appointment: {
    status:
      '`scheduled` until the clinic records what happened: `completed` (it took place) and `no_show` (the patient did not come) can be undone, `cancelled` is final. `cancelled` and `no_show` free the time.',
    notes: 'Notes of the booking. Null if there are none.',
    treatments: 'Treatments that it was booked for. Empty if none are known.',
    room: 'Room that it was booked for. Null if none is known.',
    confirmed_at: 'When the patient confirmed the appointment. Null if that is not recorded.',
    checked_in_at: 'When the patient arrived. Null if that is not recorded.',
    cancelled_at: 'When the appointment was cancelled. Null if it was not, or if the time is not known.',
    cancellation_reason: 'Reason given for the cancellation. Null if there is none.',
    external_id: 'Id in another system, if a request or an import has set one. Null otherwise.',
  },
  AppointmentReference: {
    patient: 'The patient, if the request named one.',
    doctor: 'The doctor, if the request named one.',
  },
})
