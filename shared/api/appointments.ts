import * as z from 'zod'
import { APPOINTMENT_STATUSES, type Appointment as AppointmentRecord } from '../domain/appointment.ts'
import type { ClinicInfo } from '../domain/clinic.ts'
import { formatTime } from '../domain/interval.ts'
import type { DatedSlot } from '../domain/slots.ts'
import type { Stamped } from '../domain/stamped.ts'
import { clinicTimestamp, LAST_DATE } from '../domain/timestamp.ts'
import { DurationMinutes } from './availability.ts'
import { recordListOf, recordListQuery } from './record-lists.ts'
import { defineRoute } from './route.ts'
import {
  CalendarDate,
  envelopeOf,
  longText,
  oneOf,
  PersonRef,
  RecordDate,
  renderPersonRef,
  TimeOfDay,
  Timestamp,
  UpdatedAt,
  Uuid,
  validDateRange,
} from './schemas.ts'

/** An appointment as the API returns it. */
export const Appointment = z
  .strictObject({
    id: Uuid,
    patient: PersonRef,
    doctor: PersonRef,
    appointment_date: CalendarDate.meta({ description: "In the clinic's time zone." }),
    start_time: TimeOfDay,
    end_time: TimeOfDay,
    status: oneOf(APPOINTMENT_STATUSES).meta({
      description: 'Every status except `scheduled` is final. `cancelled` and `no_show` free the time.',
    }),
    notes: z.string().nullable(),
    created_at: Timestamp,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'Appointment' })

export const renderAppointment = (
  appointment: Stamped<AppointmentRecord>,
  clinic: ClinicInfo,
): z.input<typeof Appointment> => ({
  id: appointment.id,
  patient: renderPersonRef(appointment.patient),
  doctor: renderPersonRef(appointment.doctor),
  appointment_date: appointment.date,
  start_time: appointment.startTime,
  end_time: appointment.endTime,
  status: appointment.status,
  notes: appointment.notes,
  created_at: clinicTimestamp(appointment.createdAt, clinic.timezone),
  updated_at: clinicTimestamp(appointment.updatedAt, clinic.timezone),
})

/** One of the next free slots, listed in the `details` of a 409. */
export const Alternative = z
  .strictObject({ appointment_date: CalendarDate, start_time: TimeOfDay, end_time: TimeOfDay })
  .meta({ id: 'Alternative' })

export const renderAlternative = ({ date, from, to }: DatedSlot): z.input<typeof Alternative> => ({
  appointment_date: date,
  start_time: formatTime(from),
  end_time: formatTime(to),
})

export const createAppointment = defineRoute({
  id: 'create-appointment',
  method: 'POST',
  path: '/appointments',
  summary: 'Book an appointment',
  description:
    'Books any time that fits, not only the slots that `GET /availability` lists. Every listed slot can be booked. The ' +
    "appointment must lie within the doctor's working hours, outside breaks and time off, start in the future, end by 23:59, " +
    "and not overlap a scheduled or completed appointment. Dates and times are in the clinic's time zone. If several requests " +
    "for overlapping times arrive, exactly one succeeds; the others receive a 409 that lists up to three of the doctor's next " +
    'free slots in `details`.',
  scope: 'appointment.write',
  body: z
    .strictObject({
      patient_id: Uuid,
      doctor_id: Uuid,
      appointment_date: RecordDate.meta({
        description: `In the clinic's time zone. Must not be after ${LAST_DATE}.`,
      }),
      start_time: TimeOfDay,
      duration: DurationMinutes.optional().meta({
        description: "Length in minutes. Defaults to the clinic's setting.",
      }),
      notes: longText(2000).nullish(),
    })
    .meta({ id: 'NewAppointment' }),
  response: { status: 201, body: envelopeOf(Appointment), location: '/appointments' },
  errors: [
    'patient_not_found',
    'doctor_not_found',
    'slot_unavailable',
    'outside_working_hours',
    'appointment_in_past',
  ],
  uses: {
    table: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
    shared: ['announced-events', 'spread-tallies'],
  },
})

export const listAppointments = defineRoute({
  id: 'list-appointments',
  method: 'GET',
  path: '/appointments',
  summary: 'List appointments',
  description:
    'Sorted by date and start time, newest first. Filters can be combined. `date_from` and `date_to` are inclusive and in the ' +
    "clinic's time zone. Filtering by an unknown id returns an empty list.",
  scope: 'appointment.read',
  query: recordListQuery({
    patient_id: Uuid.optional(),
    doctor_id: Uuid.optional(),
    status: oneOf(APPOINTMENT_STATUSES).optional(),
    date_from: CalendarDate.optional(),
    date_to: CalendarDate.optional(),
  }).refine(...validDateRange('date_from', 'date_to')),
  response: { status: 200, body: recordListOf(Appointment) },
  errors: ['invalid_cursor'],
  uses: { table: ['Query', 'BatchGetItem'] },
})

export const getAppointment = defineRoute({
  id: 'get-appointment',
  method: 'GET',
  path: '/appointments/{id}',
  summary: 'Retrieve an appointment',
  scope: 'appointment.read',
  params: { id: 'appointment_not_found' },
  response: { status: 200, body: envelopeOf(Appointment) },
  errors: ['appointment_not_found'],
  uses: { table: ['GetItem'] },
})
