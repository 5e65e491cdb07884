/** Holds of free times. */
import * as z from 'zod'
import {
  DEFAULT_HOLD_SECONDS,
  type Hold as HoldRecord,
  MAX_HOLD_SECONDS,
  MAX_HOLDS,
  MIN_HOLD_SECONDS,
} from '../domain/booking/hold.ts'
import type { ClinicInfo } from '../domain/clinic.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { NewTime, PLACEMENT_ERRORS, timeDescriptions, validEnd } from './bookings.ts'
import { defineRoute } from './route.ts'
import {
  CalendarDate,
  CatalogueReference,
  envelopeOf,
  PersonRef,
  renderCatalogueReference,
  renderPersonRef,
  TimeOfDay,
  Timestamp,
  Uuid,
} from './schemas.ts'

const Hold = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      doctor: PersonRef,
      appointment_date: CalendarDate,
      start_time: TimeOfDay,
      end_time: TimeOfDay,
      room: CatalogueReference.nullable(),
      expires_at: Timestamp,
      created_at: Timestamp,
    })
    .meta({ id: 'Hold' }),
)

export const renderHold = (
  hold: HoldRecord,
  { timezone }: Pick<ClinicInfo, 'timezone'>,
): z.input<typeof Hold> => ({
  id: hold.id,
  doctor: renderPersonRef(hold.doctor),
  appointment_date: hold.date,
  start_time: hold.startTime,
  end_time: hold.endTime,
  room: hold.room && renderCatalogueReference(hold.room),
  expires_at: clinicTimestamp(hold.expiresAt, timezone),
  created_at: clinicTimestamp(hold.createdAt, timezone),
})

const EXPIRES_IN = `must be ${MIN_HOLD_SECONDS} to ${MAX_HOLD_SECONDS} seconds`

export const createHold = defineRoute({
  id: 'create-hold',
  method: 'POST',
  path: '/holds',
  summary: 'Hold a time',
  description:
    'Keeps a time for a visitor who fills in a form or pays. An assistant holds a time before it asks a person to confirm it. The ' +
    'rules of a booking apply. Until the hold expires, nobody else can hold or book its time; `POST /appointments` with its ' +
    `\`hold_id\` books it. Only the credential that made a hold sees it. A credential can have ${MAX_HOLDS} holds: make one for each ` +
    'visitor, and delete it when the visitor leaves. Holds make no events.',
  scope: 'appointment.write',
  readScope: 'appointment.write',
  body: z
    .strictObject({
      ...NewTime,
      expires_in: z
        .int({ error: EXPIRES_IN })
        .min(MIN_HOLD_SECONDS, { error: EXPIRES_IN })
        .max(MAX_HOLD_SECONDS, { error: EXPIRES_IN })
        .optional(),
    })
    .refine(...validEnd('end_differs'))
    .refine(...validEnd('length_out_of_range'))
    .meta({ id: 'HoldCreate' }),
  response: { status: 201, body: envelopeOf(Hold), record: {}, location: '/holds' },
  errors: [...PLACEMENT_ERRORS, 'too_many_holds'],
})

export const getHold = defineRoute({
  id: 'get-hold',
  method: 'GET',
  path: '/holds/{id}',
  summary: 'Retrieve a hold',
  description: 'A hold that has expired, was booked or deleted, or is of another credential is not found.',
  scope: 'appointment.write',
  params: { id: 'hold_not_found' },
  response: { status: 200, body: envelopeOf(Hold), record: {} },
  errors: ['hold_not_found'],
})

export const deleteHold = defineRoute({
  id: 'delete-hold',
  method: 'DELETE',
  path: '/holds/{id}',
  summary: 'Delete a hold',
  description: 'Frees its time.',
  scope: 'appointment.write',
  params: { id: 'hold_not_found' },
  response: { status: 204, body: z.undefined() },
  errors: ['hold_not_found'],
})

/** What the fields mean, for the document. In no bundle, since no function of the stack calls it. */
export const holdDescriptions = () => ({
  HoldCreate: {
    ...timeDescriptions,
    expires_in: `Seconds until the hold expires. Defaults to ${DEFAULT_HOLD_SECONDS}.`,
  },
  Hold: { room: 'Room that is held too. Null if none is.', expires_at: 'When the hold expires.' },
})
