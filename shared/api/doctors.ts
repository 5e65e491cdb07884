import * as z from 'zod'
import type { Doctor as DoctorRecord } from '../domain/booking/doctor.ts'
import { WEEKDAYS, type Window } from '../domain/booking/working-hours.ts'
import type { Scope } from '../domain/scope.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import type { Caller } from './account.ts'
import { defineRoute } from './route.ts'
import { ScheduleWindow } from './schedule.ts'
import { activePaging, CalendarDate, envelopeOf, pageOf, Timestamp, Uuid } from './schemas.ts'

const SCHEDULE_SCOPE = 'schedule.read' satisfies Scope

const WeeklyWindows = z.lazy(() =>
  z
    .strictObject(Object.fromEntries(WEEKDAYS.map((day) => [day, z.array(ScheduleWindow).optional()])))
    .meta({ id: 'WeeklyWindows' }),
)

export const Doctor = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      full_name: z.string(),
      specialty: z.string().nullable(),
      department_id: Uuid.nullable(),
      is_active: z.boolean(),
      external_id: z.string().nullable().optional(),
      hours: WeeklyWindows.optional(),
      breaks: WeeklyWindows.optional(),
      exceptions: z.record(CalendarDate, z.array(ScheduleWindow)).optional(),
      updated_at: Timestamp,
    })
    .meta({ id: 'Doctor' }),
)

/** The scopes of fields that need a further one. */
export const doctorFieldScopes = {
  external_id: SCHEDULE_SCOPE,
  hours: SCHEDULE_SCOPE,
  breaks: SCHEDULE_SCOPE,
  exceptions: SCHEDULE_SCOPE,
} as const

/** The doctor with the fields that the credential may read. */
export const renderDoctor = (
  doctor: WithUpdatedAt<DoctorRecord> & { readonly externalId?: string | null },
  { clinic, scopes }: Pick<Caller, 'clinic' | 'scopes'>,
): z.input<typeof Doctor> => ({
  id: doctor.id,
  full_name: doctor.fullName,
  specialty: doctor.specialty,
  department_id: doctor.departmentId,
  is_active: doctor.isActive,
  ...(scopes.includes(SCHEDULE_SCOPE) && {
    external_id: doctor.externalId ?? null,
    hours: renderDays(WEEKDAYS, doctor.hours),
    breaks: renderDays(WEEKDAYS, doctor.breaks),
    exceptions: renderDays(Object.keys(doctor.exceptions).sort(), doctor.exceptions),
  }),
  updated_at: clinicTimestamp(doctor.updatedAt, clinic.timezone),
})

/** In a fixed order, because stored maps have none, and the etag is a digest of the text. */
const renderDays = <Day extends string>(
  days: readonly Day[],
  times: { readonly [day in Day]?: readonly Window[] },
): Record<string, z.input<typeof ScheduleWindow>[]> =>
  Object.fromEntries(
    days.flatMap((day) => {
      const windows = times[day]?.map(({ start, end }) => ({ start_time: start, end_time: end }))
      return windows ? [[day, windows]] : []
    }),
  )

export const listDoctors = defineRoute({
  id: 'list-doctors',
  method: 'GET',
  path: '/doctors',
  summary: 'List doctors',
  description:
    'Sorted by name. Includes inactive doctors by default. Many doctors with long `exceptions` need a smaller `limit`: a page has at ' +
    'most 6 MB.',
  scope: 'appointment.read.availability',
  query: z.strictObject(activePaging()),
  response: { status: 200, body: pageOf(Doctor) },
  errors: [],
})

export const getDoctor = defineRoute({
  id: 'get-doctor',
  method: 'GET',
  path: '/doctors/{id}',
  summary: 'Retrieve a doctor',
  scope: 'appointment.read.availability',
  params: { id: 'doctor_not_found' },
  response: { status: 200, body: envelopeOf(Doctor), record: {} },
  errors: ['doctor_not_found'],
})

const WITH_SCOPE = 'Absent unless the credential has the scope `schedule.read`.'

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const doctorDescriptions = () => ({
  Doctor: {
    id: 'Id of the doctor: the `doctor_id` of requests.',
    specialty: 'Medical specialty. Null if none is stored.',
    is_active: 'Whether the doctor can be booked.',
    external_id: `Id in another system, if a request or an import has set one. Null otherwise. ${WITH_SCOPE}`,
    hours: `Working hours of each day of the week. ${WITH_SCOPE}`,
    breaks: `Breaks within the working hours. ${WITH_SCOPE}`,
    exceptions: `Dates with hours other than those of the week; none on a day off. ${WITH_SCOPE}`,
    updated_at: 'When the doctor, working hours included, was last changed.',
  },
  WeeklyWindows: Object.fromEntries(
    WEEKDAYS.map((day) => [day, 'Times of this day. Absent if there are none.']),
  ),
})
