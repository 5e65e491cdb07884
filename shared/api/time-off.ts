/** Days off of doctors, and blocks within a day. */
import * as z from 'zod'
import type { TimeOff as TimeOffRecord } from '../domain/booking/doctor.ts'
import { dayOffReason, formatSpan } from '../domain/booking/doctor-days.ts'
import { timeOffId } from '../domain/uuid.ts'
import { ScheduleChangeMeta } from './new-doctor.ts'
import { defineRoute } from './route.ts'
import {
  CalendarDate,
  pageOf,
  paging,
  RecordDate,
  TimeOfDay,
  Uuid,
  validDateRange,
  whenValid,
} from './schemas.ts'

const TimeOff = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      from: CalendarDate,
      to: CalendarDate,
      start_time: TimeOfDay.nullable(),
      end_time: TimeOfDay.nullable(),
      reason: z.string().nullable(),
    })
    .meta({ id: 'TimeOff' }),
)

export const renderTimeOff = (
  doctor: string,
  { reason, ...span }: TimeOffRecord,
): z.input<typeof TimeOff> => ({
  id: timeOffId(doctor, formatSpan(span)),
  from: span.from,
  to: span.to,
  start_time: span.times?.start ?? null,
  end_time: span.times?.end ?? null,
  reason,
})

const TimeOffCreate = z
  .strictObject({
    from: RecordDate,
    to: RecordDate.optional(),
    start_time: TimeOfDay.optional(),
    end_time: TimeOfDay.optional(),
    reason: dayOffReason.nullish(),
  })
  .refine(...validDateRange('from', 'to'))
  .refine(({ start_time, end_time }) => (start_time === undefined) === (end_time === undefined), {
    path: ['start_time'],
    error: 'must be sent together with end_time',
  })
  .refine(({ start_time, end_time }) => !start_time || !end_time || start_time < end_time, {
    path: ['end_time'],
    error: 'must be after start_time',
    when: whenValid('start_time', 'end_time'),
  })
  .refine(({ from, to, start_time }) => !start_time || to === undefined || to === from, {
    path: ['to'],
    error: 'must be the same day as from if times are sent',
    when: whenValid('from', 'to', 'start_time'),
  })
  .meta({ id: 'TimeOffCreate' })

/** The time off that a request describes. */
export function timeOffOf(body: z.output<typeof TimeOffCreate>): TimeOffRecord {
  const { from, to = from, start_time: start, end_time: end, reason = null } = body
  return { from, to, ...(start && end && { times: { start, end } }), reason }
}

export const listTimeOff = defineRoute({
  id: 'list-time-off',
  method: 'GET',
  path: '/doctors/{id}/time-off',
  summary: "List a doctor's time off",
  description:
    'Days off, and blocks within a day, by date. Holidays of the clinic are in `GET /clinic/holidays`, and dates with other hours ' +
    'in `exceptions` of the doctor.',
  scope: 'schedule.read',
  params: { id: 'doctor_not_found' },
  query: z
    .strictObject({ ...paging(), from: CalendarDate.optional(), to: CalendarDate.optional() })
    .refine(...validDateRange('from', 'to')),
  response: { status: 200, body: pageOf(TimeOff) },
  errors: ['doctor_not_found'],
})

export const createTimeOff = defineRoute({
  id: 'create-time-off',
  method: 'POST',
  path: '/doctors/{id}/time-off',
  summary: 'Add time off to a doctor',
  description:
    'Whole days, or with `start_time` and `end_time` a block within one day, which works like a break. Appointments at that time ' +
    'stay as they are. A repetition of the same days and times returns the time off that is there, with the status 200.',
  scope: 'schedule.write',
  readScope: 'schedule.read',
  params: { id: 'doctor_not_found' },
  body: TimeOffCreate,
  response: {
    status: 201,
    unchangedStatus: 200,
    body: z.lazy(() => z.strictObject({ data: TimeOff, meta: ScheduleChangeMeta })),
  },
  errors: ['doctor_not_found'],
})

export const deleteTimeOff = defineRoute({
  id: 'delete-time-off',
  method: 'DELETE',
  path: '/doctors/{id}/time-off/{time_off_id}',
  summary: 'Delete time off of a doctor',
  scope: 'schedule.write',
  params: { id: 'doctor_not_found', time_off_id: 'time_off_not_found' },
  response: { status: 204, body: z.undefined() },
  errors: ['doctor_not_found', 'time_off_not_found'],
})

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const timeOffDescriptions = () => ({
  TimeOffCreate: {
    from: 'First day off, or the day of the block.',
    to: 'Last day off. Defaults to `from`.',
    start_time: 'Start of a block within the day, `HH:MM`. Together with `end_time`.',
    end_time: 'End of a block within the day, `HH:MM`.',
    reason: 'Reason.',
  },
  TimeOff: {
    id: 'Id of the time off. It follows from the days and times.',
    from: 'First day off, or the day of the block.',
    to: 'Last day off.',
    start_time: 'Start of a block within the day, `HH:MM`. Null for whole days.',
    end_time: 'End of a block within the day, `HH:MM`. Null for whole days.',
    reason:
      'Reason. Null if none is stored. Without `schedule.read`, the response to a POST has only the one that was sent.',
  },
})
