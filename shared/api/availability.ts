import * as z from 'zod'
import { formatTime, type Interval } from '../domain/interval.ts'
import { LAST_DATE } from '../domain/timestamp.ts'
import { defineRoute } from './route.ts'
import { CalendarDate, RecordDate, TimeOfDay, Uuid } from './schemas.ts'

export const MIN_DURATION = 5
export const MAX_DURATION = 480

const RANGE = `must be a whole number of minutes from ${MIN_DURATION} to ${MAX_DURATION}`

/** A duration in minutes, in a query string. */
const Duration = z
  .string()
  .refine(
    (digits) =>
      /^[1-9]\d{0,2}$/.test(digits) && Number(digits) >= MIN_DURATION && Number(digits) <= MAX_DURATION,
    { error: RANGE },
  )
  .transform(Number)
  .meta({ type: 'integer', minimum: MIN_DURATION, maximum: MAX_DURATION })

/** A duration in minutes, in a request body. */
export const DurationMinutes = z
  .int({ error: RANGE })
  .min(MIN_DURATION, { error: RANGE })
  .max(MAX_DURATION, { error: RANGE })

/** A free slot as the API returns it. */
export const Slot = z
  .strictObject({ start_time: TimeOfDay, end_time: TimeOfDay, duration_minutes: z.int() })
  .meta({ id: 'Slot' })

export const renderSlot = ({ from, to }: Interval): z.input<typeof Slot> => ({
  start_time: formatTime(from),
  end_time: formatTime(to),
  duration_minutes: to - from,
})

export const getAvailability = defineRoute({
  id: 'get-availability',
  method: 'GET',
  path: '/availability',
  summary: 'List free slots',
  description:
    'Lists the free slots of a doctor on a date. Slots start at the beginning of each of the working windows and step by the ' +
    "duration. A slot lies within the doctor's working hours, outside breaks and time off, does not overlap a scheduled or " +
    'completed appointment, and starts in the future. Times that a daylight saving change skips are not offered; times that it ' +
    'repeats are offered once. An inactive doctor has no slots.',
  scope: 'appointment.read.availability',
  query: z.strictObject({
    doctor_id: Uuid,
    date: RecordDate.meta({ description: `In the clinic's time zone. Must not be after ${LAST_DATE}.` }),
    duration: Duration.optional().meta({
      description: "Length of a slot in minutes. Defaults to the clinic's setting.",
    }),
  }),
  response: {
    status: 200,
    body: z.strictObject({
      data: z.array(Slot),
      meta: z.strictObject({
        date: CalendarDate,
        doctor_id: Uuid,
        duration_minutes: z.int(),
        count: z.int().min(0).meta({ description: 'Number of slots in `data`.' }),
      }),
    }),
  },
  errors: ['doctor_not_found'],
  uses: { table: ['GetItem'] },
})
