import * as z from 'zod'
import { APPOINTMENT_STATUSES, type Appointment as AppointmentRecord } from '../domain/appointment.ts'
import type { ClinicFacts } from '../domain/clinic.ts'
import { timeOf } from '../domain/interval.ts'
import type { DatedSlot } from '../domain/slots.ts'
import { paragraphs } from '../domain/text-fields.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { DurationMinutes } from './availability.ts'
import { defineRoute } from './route.ts'
import {
  ascending,
  CalendarDate,
  NamedRef,
  one,
  oneOf,
  pageOf,
  paging,
  renderNamed,
  TimeOfDay,
  Timestamp,
  Uuid,
} from './schemas.ts'

/** Spec section 2, Appointment. */
export const Appointment = z
  .strictObject({
    id: Uuid,
    patient: NamedRef,
    doctor: NamedRef,
    appointment_date: CalendarDate,
    start_time: TimeOfDay,
    end_time: TimeOfDay,
    status: oneOf(APPOINTMENT_STATUSES),
    notes: z.string().nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Appointment' })

export const renderAppointment = (
  appointment: AppointmentRecord,
  clinic: ClinicFacts,
): z.input<typeof Appointment> => ({
  id: appointment.id,
  patient: renderNamed(appointment.patient),
  doctor: renderNamed(appointment.doctor),
  appointment_date: appointment.date,
  start_time: appointment.startTime,
  end_time: appointment.endTime,
  status: appointment.status,
  notes: appointment.notes,
  created_at: clinicTimestamp(appointment.createdAt, clinic.timezone),
})

/** One of the next free times, offered with a 409. */
export const Alternative = z.strictObject({
  appointment_date: CalendarDate,
  start_time: TimeOfDay,
  end_time: TimeOfDay,
})

export const renderAlternative = ({ date, from, to }: DatedSlot): z.input<typeof Alternative> => ({
  appointment_date: date,
  start_time: timeOf(from),
  end_time: timeOf(to),
})

export const createAppointment = defineRoute({
  id: 'create-appointment',
  method: 'POST',
  path: '/appointments',
  summary: 'Book an appointment',
  scope: 'appointment.write',
  body: z.strictObject({
    patient_id: Uuid,
    doctor_id: Uuid,
    appointment_date: CalendarDate,
    start_time: TimeOfDay,
    duration: DurationMinutes.optional(),
    notes: paragraphs(2000).nullish(),
  }),
  response: { status: 201, body: one(Appointment), location: '/appointments' },
  errors: [
    'patient_not_found',
    'doctor_not_found',
    'slot_unavailable',
    'outside_working_hours',
    'appointment_in_past',
  ],
  uses: { table: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'ConditionCheckItem'] },
})

export const listAppointments = defineRoute({
  id: 'list-appointments',
  method: 'GET',
  path: '/appointments',
  summary: 'List the appointments by date and start time, newest first',
  scope: 'appointment.read',
  query: z
    .strictObject({
      ...paging,
      patient_id: Uuid.optional(),
      doctor_id: Uuid.optional(),
      status: oneOf(APPOINTMENT_STATUSES).optional(),
      date_from: CalendarDate.optional(),
      date_to: CalendarDate.optional(),
    })
    .superRefine(ascending('date_from', 'date_to')),
  response: { status: 200, body: pageOf(Appointment) },
  errors: [],
  uses: { table: ['Query', 'BatchGetItem'] },
})
