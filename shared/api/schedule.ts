import * as z from 'zod'
import type { DaySchedule } from '../domain/booking/slots.ts'
import { formatTime } from '../domain/interval.ts'
import { isWithinDays } from './availability.ts'
import { defineRoute } from './route.ts'
import { CalendarDate, RecordDate, TimeOfDay, Uuid, validDateRange } from './schemas.ts'

export const ScheduleWindow = z.lazy(() =>
  z.strictObject({ start_time: TimeOfDay, end_time: TimeOfDay }).meta({ id: 'ScheduleWindow' }),
)

export const ScheduleDay = z.lazy(() =>
  z
    .strictObject({
      date: CalendarDate,
      windows: z.array(ScheduleWindow),
      closed: z.enum(['holiday', 'time_off']).nullable(),
    })
    .meta({ id: 'ScheduleDay' }),
)

export const renderScheduleDay = (
  date: string,
  { windows, closed }: DaySchedule,
): z.input<typeof ScheduleDay> => ({
  date,
  windows: windows.map(({ from, to }) => ({ start_time: formatTime(from), end_time: formatTime(to) })),
  closed,
})

export const getSchedule = defineRoute({
  id: 'get-schedule',
  method: 'GET',
  path: '/doctors/{id}/schedule',
  summary: "Retrieve a doctor's schedule",
  description:
    'Lists the times at which a doctor works, day by day: working hours without breaks and without minutes that a daylight saving ' +
    'change skips, whatever is booked. Slots of `GET /availability` are within them. An inactive doctor has none.',
  scope: 'appointment.read.availability',
  params: { id: 'doctor_not_found' },
  query: z
    .strictObject({ date: RecordDate, date_to: RecordDate.optional() })
    .refine(...validDateRange('date', 'date_to'))
    .refine(...isWithinDays),
  response: {
    status: 200,
    body: z.lazy(() =>
      z.strictObject({
        data: z.array(ScheduleDay),
        meta: z
          .strictObject({ doctor_id: Uuid, date: CalendarDate, date_to: CalendarDate, timezone: z.string() })
          .meta({ id: 'ScheduleMeta' }),
      }),
    ),
  },
  errors: ['doctor_not_found'],
})

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const scheduleDescriptions = () => ({
  ScheduleDay: {
    date: "The date, in the clinic's time zone.",
    windows: 'When the doctor works, in ascending order. Empty on a day without working hours.',
    closed: 'Why the doctor is away although the day has working hours. Null on other days.',
  },
  ScheduleWindow: { end_time: 'End, `HH:MM`.' },
  ScheduleMeta: { date: 'The first date.', date_to: 'The last date.' },
})
