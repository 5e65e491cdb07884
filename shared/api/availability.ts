import * as z from 'zod'
import {
  type DoctorSlot,
  MAX_AVAILABILITY_DAYS,
  MAX_AVAILABILITY_DOCTORS,
  MAX_SLOTS,
} from '../domain/booking/availability.ts'
import { MAX_DURATION, MIN_DURATION } from '../domain/booking/placement.ts'
import { daysBetween } from '../domain/clock.ts'
import { formatTime } from '../domain/interval.ts'
import { LAST_DATE } from '../domain/timestamp.ts'
import { defineRoute } from './route.ts'
import {
  CalendarDate,
  PersonRef,
  RecordDate,
  renderPersonRef,
  TimeOfDay,
  Uuid,
  validDateRange,
  whenValid,
  wholeNumber,
} from './schemas.ts'

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
  .strictObject({
    date: CalendarDate.optional().meta({ description: 'With `date_to`.' }),
    start_time: TimeOfDay,
    end_time: TimeOfDay,
    duration_minutes: z.int(),
    doctor: PersonRef.optional().meta({ description: 'Without `doctor_id`.' }),
  })
  .meta({ id: 'Slot' })

type Query = z.output<(typeof getAvailability)['query']>

export const renderSlot = (
  { date, from, to, doctor }: DoctorSlot,
  { date_to, doctor_id }: Pick<Query, 'date_to' | 'doctor_id'>,
): z.input<typeof Slot> => ({
  ...(date_to !== undefined && { date }),
  start_time: formatTime(from),
  end_time: formatTime(to),
  duration_minutes: to - from,
  ...(doctor_id === undefined && { doctor: renderPersonRef(doctor) }),
})

const isWithinDays = ({ date, date_to }: Readonly<Record<string, unknown>>): boolean =>
  typeof date !== 'string' ||
  typeof date_to !== 'string' ||
  date > date_to ||
  daysBetween(date, date_to) < MAX_AVAILABILITY_DAYS

export const getAvailability = defineRoute({
  id: 'get-availability',
  method: 'GET',
  path: '/availability',
  summary: 'List free slots',
  description:
    'Lists the free slots of a doctor on a date, or on all dates up to `date_to`. Slots start at the beginning of each of the ' +
    "working windows and step by the duration. A slot lies within the doctor's working hours, outside breaks and time off, " +
    'overlaps no scheduled or completed appointment, and starts in the future. Times that a daylight saving change skips are ' +
    'not offered; times that it repeats are offered once. An inactive doctor, treatment or room has no slots, nor does a ' +
    'treatment that the doctor does not offer. With `treatment_id`, `doctor_id` can be left out: the response then has the ' +
    `slots of the active doctors who offer the treatment, by name, at most ${MAX_AVAILABILITY_DOCTORS} of them. Slots are ` +
    'sorted by date, start time and doctor.',
  scope: 'appointment.read.availability',
  query: z
    .strictObject({
      doctor_id: Uuid.optional().meta({ description: 'Required unless `treatment_id` is sent.' }),
      treatment_id: Uuid.optional(),
      room_id: Uuid.optional().meta({ description: 'Lists only slots at which this room is free too.' }),
      date: RecordDate.meta({ description: `In the clinic's time zone. Must not be after ${LAST_DATE}.` }),
      date_to: RecordDate.optional().meta({
        description: `The last date, at most ${MAX_AVAILABILITY_DAYS - 1} days after \`date\`. Slots then have a \`date\`.`,
      }),
      duration: Duration.optional().meta({
        description:
          "Length of a slot in minutes. Defaults to the treatment's duration, or to the clinic's setting.",
      }),
      limit: wholeNumber(MAX_SLOTS, MAX_SLOTS).meta({ description: 'The first slots to list.' }),
    })
    .refine(({ doctor_id, treatment_id }) => doctor_id !== undefined || treatment_id !== undefined, {
      path: ['doctor_id'],
      error: 'is required unless treatment_id is sent',
      when: whenValid('doctor_id', 'treatment_id'),
    })
    .refine(...validDateRange('date', 'date_to'))
    .refine(isWithinDays, {
      path: ['date_to'],
      error: `must be at most ${MAX_AVAILABILITY_DAYS - 1} days after date`,
      when: whenValid('date', 'date_to'),
    }),
  response: {
    status: 200,
    body: z.strictObject({
      data: z.array(Slot),
      meta: z.strictObject({
        date: CalendarDate,
        date_to: CalendarDate.optional(),
        doctor_id: Uuid.optional(),
        treatment_id: Uuid.optional(),
        room_id: Uuid.optional(),
        duration_minutes: z.int(),
        count: z.int().min(0).meta({ description: 'Number of slots in `data`.' }),
      }),
    }),
  },
  errors: ['doctor_not_found', 'treatment_not_found', 'room_not_found'],
  uses: { table: ['GetItem', 'BatchGetItem', 'Query'] },
})
