import * as z from 'zod'
import { type DoctorSlot, MAX_AVAILABILITY_DAYS, MAX_SLOTS } from '../domain/booking/availability.ts'
import { MAX_DURATION, MAX_TREATMENTS, MIN_DURATION } from '../domain/booking/placement.ts'
import { daysBetween } from '../domain/clock.ts'
import { formatTime } from '../domain/interval.ts'
import { isUuid } from '../domain/uuid.ts'
import { ApiError } from './errors.ts'
import { defineRoute } from './route.ts'
import {
  CalendarDate,
  INVALID_CURSOR,
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
const duration = () =>
  z
    .string()
    .refine(
      (digits) =>
        /^[1-9]\d{0,2}$/.test(digits) && Number(digits) >= MIN_DURATION && Number(digits) <= MAX_DURATION,
      { error: RANGE },
    )
    .transform(Number)
    .meta({ type: 'integer', minimum: MIN_DURATION, maximum: MAX_DURATION })

/** Ids of treatments in a query string. */
const treatmentIdList = () =>
  z
    .string()
    .refine(
      (text) => {
        const ids = text.toLowerCase().split(',')
        return ids.every(isUuid) && ids.length <= MAX_TREATMENTS && new Set(ids).size === ids.length
      },
      { error: `must be 1 to ${MAX_TREATMENTS} different ids of treatments, separated by commas` },
    )
    .transform((text) => text.toLowerCase().split(','))
    .meta({ pattern: `^[0-9A-Fa-f-]{36}(,[0-9A-Fa-f-]{36}){0,${MAX_TREATMENTS - 1}}$` })

/** The error for treatments that no appointment can have without a duration of its own. */
export const treatmentsTooLong = () =>
  new ApiError('invalid_params', {
    details: [
      {
        field: 'treatment_ids',
        issue: `must take at most ${MAX_DURATION} minutes together, unless duration is sent`,
      },
    ],
  })

/** A duration in minutes, in a request body. */
export const DurationMinutes = z
  .int({ error: RANGE })
  .min(MIN_DURATION, { error: RANGE })
  .max(MAX_DURATION, { error: RANGE })

/** A free slot as the API returns it. */
export const Slot = z.lazy(() =>
  z
    .strictObject({
      date: CalendarDate.optional(),
      start_time: TimeOfDay,
      end_time: TimeOfDay,
      duration_minutes: z.int(),
      doctor: PersonRef.optional(),
    })
    .meta({ id: 'Slot' }),
)

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

/** How to continue the list. A day of a doctor has it only if it was sent a limit. */
export const renderPaging = (
  next: string | null,
  { date_to, doctor_id, limit }: Pick<Query, 'date_to' | 'doctor_id' | 'limit'>,
) =>
  doctor_id !== undefined && date_to === undefined && limit === undefined
    ? {}
    : { has_more: next !== null, next_after: next }

/** The arguments of a `refine` that rejects a range of more than {@link MAX_AVAILABILITY_DAYS}. */
export const isWithinDays = [
  ({ date, date_to }: Readonly<Record<string, unknown>>): boolean =>
    typeof date !== 'string' ||
    typeof date_to !== 'string' ||
    date > date_to ||
    daysBetween(date, date_to) < MAX_AVAILABILITY_DAYS,
  {
    path: ['date_to'],
    error: `must be at most ${MAX_AVAILABILITY_DAYS - 1} days after date`,
    when: whenValid('date', 'date_to'),
  },
] satisfies Parameters<z.ZodObject['refine']>

export const getAvailability = defineRoute({
  id: 'get-availability',
  method: 'GET',
  path: '/availability',
  summary: 'List free slots',
  description:
    'Lists the free slots of a doctor on a date, or on all dates up to `date_to`. Slots start at the beginning of each of the ' +
    "working windows and step by the duration. A slot lies within the doctor's working hours, outside breaks and time off, " +
    'overlaps no hold and no scheduled or completed appointment, and starts in the future. Times that a daylight saving change skips are ' +
    'not offered; times that it repeats are offered once. An inactive doctor, treatment or room has no slots, nor does a ' +
    'treatment that the doctor does not offer. With `treatment_id` or `treatment_ids`, `doctor_id` can be left out: the response ' +
    'then has the slots of all active doctors who offer the treatments. Slots are sorted by date, start time, name and id of the ' +
    'doctor. A page ends after `limit` slots, or earlier at the end of a day; `meta.next_after` is the cursor of the next page. ' +
    'If `count` is 0, nothing is free in the rest of the range.',
  scope: 'appointment.read.availability',
  query: z
    .strictObject({
      doctor_id: Uuid.optional(),
      treatment_id: Uuid.optional(),
      treatment_ids: treatmentIdList().optional(),
      room_id: Uuid.optional(),
      date: RecordDate,
      date_to: RecordDate.optional(),
      duration: duration().optional(),
      limit: wholeNumber(MAX_SLOTS, MAX_SLOTS).unwrap().optional().meta({
        type: 'integer',
        minimum: 1,
        maximum: MAX_SLOTS,
        default: MAX_SLOTS,
      }),
      after: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,2000}$/, { error: INVALID_CURSOR })
        .optional(),
    })
    .refine((query) => query.doctor_id ?? query.treatment_id ?? query.treatment_ids, {
      path: ['doctor_id'],
      error: 'is required unless treatments are sent',
      when: whenValid('doctor_id', 'treatment_id', 'treatment_ids'),
    })
    .refine((query) => query.treatment_id === undefined || query.treatment_ids === undefined, {
      path: ['treatment_ids'],
      error: 'must not be combined with treatment_id',
      when: whenValid('treatment_id', 'treatment_ids'),
    })
    .refine(...validDateRange('date', 'date_to'))
    .refine(...isWithinDays),
  response: {
    status: 200,
    body: z.lazy(() =>
      z.strictObject({
        data: z.array(Slot),
        meta: z
          .strictObject({
            date: CalendarDate,
            date_to: CalendarDate.optional(),
            doctor_id: Uuid.optional(),
            treatment_id: Uuid.optional(),
            treatment_ids: z.array(Uuid).optional(),
            room_id: Uuid.optional(),
            duration_minutes: z.int(),
            count: z.int().min(0),
            has_more: z.boolean().optional(),
            next_after: z.string().nullable().optional(),
          })
          .meta({ id: 'AvailabilityMeta' }),
      }),
    ),
  },
  errors: ['invalid_cursor', 'doctor_not_found', 'treatment_not_found', 'room_not_found'],
})
