/** Creating and updating doctors, apart from doctors.ts, whose functions need no schemas of requests. */
import * as z from 'zod'
import { MAX_ACTIVE_DOCTORS } from '../domain/booking/doctor.ts'
import { doctorName, formatExceptions, MAX_DAYS_TEXT, specialty } from '../domain/booking/doctor-days.ts'
import { WEEKDAYS, type WeeklyHours, type Window } from '../domain/booking/working-hours.ts'
import { externalId } from '../domain/patients/text-fields.ts'
import { LAST_DATE } from '../domain/timestamp.ts'
import { Doctor, doctorFieldScopes } from './doctors.ts'
import { defineRoute, type RecordReference } from './route.ts'
import { RecordDate, sentFields, TimeOfDay, Uuid } from './schemas.ts'

/** As many times of a day as a week can have seven times in a file. */
const MAX_WINDOWS = 100

const WorkingTime = z.strictObject({ start_time: TimeOfDay, end_time: TimeOfDay }).meta({ id: 'WorkingTime' })

/** The times of a day, in any order. */
const Windows = z
  .array(WorkingTime, { error: 'must be a list of times' })
  .max(MAX_WINDOWS, { error: `must have at most ${MAX_WINDOWS} times` })
  .refine((times) => times.every(({ start_time, end_time }) => start_time < end_time), {
    error: 'must have each end_time after its start_time',
  })
  .transform((times): Window[] =>
    times
      .map(({ start_time: start, end_time: end }) => ({ start, end }))
      .sort((a, b) => (a.start < b.start ? -1 : 1)),
  )
  .refine((times) => times.every(({ end }, at) => end <= (times[at + 1]?.start ?? end)), {
    error: 'must not overlap',
  })

/** Days without times are left out, as in files. */
const Week = z
  .strictObject(Object.fromEntries(WEEKDAYS.map((day) => [day, Windows.optional()])), {
    error: 'must be an object of weekdays',
  })
  .meta({ id: 'WorkingHours' })
  .transform(
    (days): WeeklyHours => Object.fromEntries(Object.entries(days).filter(([, times]) => times?.length)),
  )

const doctorFields = () => ({
  full_name: doctorName,
  specialty: specialty.nullish(),
  department_id: Uuid.nullish(),
  is_active: z.boolean({ error: 'must be true or false' }).optional(),
  external_id: externalId().nullish(),
  hours: Week.optional(),
  breaks: Week.optional(),
  exceptions: z
    .record(RecordDate, Windows, {
      error: ({ code }) =>
        code === 'invalid_key'
          ? `must be a date that exists, as YYYY-MM-DD, and not after ${LAST_DATE}`
          : 'must be an object of dates',
    })
    .refine((days) => formatExceptions(days).length <= MAX_DAYS_TEXT, {
      error: 'has too many dates: leave out past ones',
    })
    .optional(),
})

const DoctorCreate = z.strictObject(doctorFields()).meta({ id: 'DoctorCreate' })

const DoctorChanges = z
  .strictObject(doctorFields())
  .partial({ full_name: true })
  .meta({ id: 'DoctorChanges' })

/** What a change of a doctor's times says besides the record. */
export const ScheduleChangeMeta = z.lazy(() =>
  z.strictObject({ appointments_outside: z.int().min(0).nullable() }).meta({ id: 'ScheduleChangeMeta' }),
)

const ChangedDoctor = z.lazy(() => z.strictObject({ data: Doctor, meta: ScheduleChangeMeta }))

const IN_REFERENCES = { id: true, is_active: true, updated_at: true } as const

const doctorReference: RecordReference = {
  schema: z.lazy(() =>
    z.strictObject(Doctor.unwrap().partial().required(IN_REFERENCES).shape).meta({
      id: 'DoctorReference',
      description:
        'Without `appointment.read.availability`, of the optional fields only those that the request had.',
    }),
  ),
  of: (doctor, sent) => sentFields(doctor, sent, Object.keys(IN_REFERENCES)),
}

const record = { reference: doctorReference, fieldScopes: doctorFieldScopes } as const

const RULES = `A clinic has at most ${MAX_ACTIVE_DOCTORS} active doctors. Times of a day must not overlap.`

export const createDoctor = defineRoute({
  id: 'create-doctor',
  method: 'POST',
  path: '/doctors',
  summary: 'Create a doctor',
  description: `A doctor without \`hours\` cannot be booked. ${RULES}`,
  scope: 'schedule.write',
  readScope: 'appointment.read.availability',
  body: DoctorCreate,
  response: { status: 201, body: ChangedDoctor, record, location: '/doctors' },
  errors: ['department_not_found', 'external_id_taken'],
})

export const updateDoctor = defineRoute({
  id: 'update-doctor',
  method: 'PATCH',
  path: '/doctors/{id}',
  summary: 'Update a doctor',
  description:
    'Changes only the fields that are sent; null clears an optional one. `hours`, `breaks` and `exceptions` are replaced as a ' +
    'whole. Appointments that are no longer within working hours stay as they are: `meta.appointments_outside` counts them, and ' +
    '`GET /appointments` with `outside_hours` lists them. A new name appears in the appointments of the doctor shortly ' +
    `afterwards. ${RULES}`,
  scope: 'schedule.write',
  readScope: 'appointment.read.availability',
  params: { id: 'doctor_not_found' },
  body: DoctorChanges,
  response: { status: 200, body: ChangedDoctor, record },
  errors: ['doctor_not_found', 'department_not_found', 'precondition_failed', 'external_id_taken'],
})

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const newDoctorDescriptions = () => ({
  DoctorCreate: {
    full_name: 'Full name, with a title if the clinic uses one.',
    specialty: 'Medical specialty.',
    department_id: 'Id of the department.',
    is_active: 'Whether the doctor can be booked. True by default.',
    external_id: 'Id in another system, unique among the doctors of the clinic. Imports use it as their own.',
    hours: 'Working hours of each day of the week.',
    breaks: 'Times within the working hours that cannot be booked.',
    exceptions: `Hours of single dates, in place of those of the week. An empty list is a day off. No date after ${LAST_DATE}.`,
  },
  WorkingTime: { end_time: 'End, `HH:MM`, at 23:59 at the latest.' },
  ScheduleChangeMeta: {
    appointments_outside:
      'Number of upcoming appointments, of the next 366 days, that were within working hours and are no longer. Null if more than 5,000 appointments would have to be read.',
  },
})
