import * as z from 'zod'
import { formatTime, type Interval } from '../domain/interval.ts'
import { defineRoute } from './route.ts'
import { CalendarDate, TimeOfDay, Uuid } from './schemas.ts'

export const MIN_DURATION = 5
export const MAX_DURATION = 480

const RANGE = `must be a whole number of minutes from ${MIN_DURATION} to ${MAX_DURATION}`

/** A length in minutes, in a query string. */
const Duration = z
  .string()
  .refine(
    (digits) =>
      /^[1-9]\d{0,2}$/.test(digits) && Number(digits) >= MIN_DURATION && Number(digits) <= MAX_DURATION,
    { error: RANGE },
  )
  .transform(Number)
  .meta({ type: 'integer', minimum: MIN_DURATION, maximum: MAX_DURATION })

/** The same in a body. */
export const DurationMinutes = z
  .int({ error: RANGE })
  .min(MIN_DURATION, { error: RANGE })
  .max(MAX_DURATION, { error: RANGE })

/** Spec section 2, Availability slot. */
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
  summary: 'List the free slots of a doctor on a date',
  description:
    "From the start of each of the doctor's windows in steps of the duration. A slot lies inside the hours, outside breaks " +
    "and time off, overlaps no scheduled or completed appointment, and starts in the future of the clinic's clock. Times that " +
    'the clock skips that day are not offered; times that it repeats are offered once. A doctor who is not active has none.',
  scope: 'appointment.read.availability',
  query: z.strictObject({
    doctor_id: Uuid,
    date: CalendarDate.meta({ description: 'Clinic-local.' }),
    duration: Duration.optional().meta({ description: "Minutes; the clinic's own length without it." }),
  }),
  response: {
    status: 200,
    body: z.strictObject({
      data: z.array(Slot),
      meta: z.strictObject({
        date: CalendarDate,
        doctor_id: Uuid,
        duration_minutes: z.int(),
        count: z.int().min(0).meta({ description: 'Slots in `data`.' }),
      }),
    }),
  },
  errors: ['doctor_not_found'],
  uses: { table: ['GetItem'] },
})
