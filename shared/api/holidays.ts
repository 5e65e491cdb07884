/** Days on which a whole clinic is closed. */
import * as z from 'zod'
import { MAX_HOLIDAYS, type TimeOff } from '../domain/booking/doctor.ts'
import { dayOffReason } from '../domain/booking/doctor-days.ts'
import { externalId } from '../domain/patients/text-fields.ts'
import { defineRoute } from './route.ts'
import { CalendarDate, envelopeOf, pageOf, paging, RecordDate, Uuid, validDateRange } from './schemas.ts'

const Holiday = z.lazy(() =>
  z
    .strictObject({ id: Uuid, from: CalendarDate, to: CalendarDate, name: z.string().nullable() })
    .meta({ id: 'Holiday' }),
)

export const renderHoliday = ({
  id,
  from,
  to,
  reason,
}: TimeOff & { readonly id: string }): z.input<typeof Holiday> => ({ id, from, to, name: reason })

const HolidayCreate = z
  .strictObject({
    from: RecordDate,
    to: RecordDate.optional(),
    name: dayOffReason.nullish(),
    external_id: externalId().nullish(),
  })
  .refine(...validDateRange('from', 'to'))
  .meta({ id: 'HolidayCreate' })

export const listHolidays = defineRoute({
  id: 'list-holidays',
  method: 'GET',
  path: '/clinic/holidays',
  summary: 'List holidays',
  description: 'Days on which the clinic is closed and no doctor can be booked, by date.',
  scope: 'appointment.read.availability',
  query: z.strictObject(paging()),
  response: { status: 200, body: pageOf(Holiday) },
  errors: [],
})

export const createHoliday = defineRoute({
  id: 'create-holiday',
  method: 'POST',
  path: '/clinic/holidays',
  summary: 'Add a holiday',
  description:
    'A day, or several in a row. No doctor can be booked on them shortly afterwards; appointments stay as they are, and `GET ' +
    '/appointments` with `outside_hours` lists them. A repetition of the same days returns the holiday that is there, with the ' +
    `status 200. A clinic has at most ${MAX_HOLIDAYS} holidays.`,
  scope: 'schedule.write',
  readScope: 'appointment.read.availability',
  body: HolidayCreate,
  response: { status: 201, unchangedStatus: 200, body: envelopeOf(Holiday) },
  errors: ['external_id_taken'],
})

export const deleteHoliday = defineRoute({
  id: 'delete-holiday',
  method: 'DELETE',
  path: '/clinic/holidays/{id}',
  summary: 'Delete a holiday',
  scope: 'schedule.write',
  params: { id: 'holiday_not_found' },
  response: { status: 204, body: z.undefined() },
  errors: ['holiday_not_found'],
})

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const holidayDescriptions = () => ({
  Holiday: {
    id: 'Id of the holiday. It follows from the days, or from the external id.',
    from: 'First day.',
    to: 'Last day.',
    name:
      'Name of the holiday. Null if it has none. Without `appointment.read.availability`, the response to a POST has only the one ' +
      'that was sent.',
  },
  HolidayCreate: {
    from: 'First day.',
    to: 'Last day. Defaults to `from`.',
    name: 'Name of the holiday.',
    external_id: "Id in the clinic's own system. Imports use it as their own.",
  },
})
