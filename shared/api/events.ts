import * as z from 'zod'
import { EVENTS, type EventName, PING } from '../domain/event.ts'
import { defineRoute } from './route.ts'
import { cursorPageOf, cursorPaging, oneOf, Timestamp, Uuid } from './schemas.ts'

/** Every event there is, in the order of the catalogue. */
export const EVENT_NAMES = [...EVENTS, PING] as const satisfies readonly EventName[]

/** An event as it is delivered and listed (spec section 6): ids, status, dates and times; no names, contacts or texts. */
export const Event = z
  .strictObject({
    id: z.string().regex(/^evt_[0-9a-f-]{36}$/),
    event: oneOf(EVENT_NAMES),
    clinic_id: Uuid,
    created_at: Timestamp,
    /** The how-manieth event of its record. */
    sequence: z.int().min(1),
    data: z.record(z.string(), z.string().nullable()),
  })
  .meta({ id: 'Event' })

export const listEvents = defineRoute({
  id: 'list-events',
  method: 'GET',
  path: '/events',
  summary: 'Catch up with the events of the last 30 days, oldest first',
  scope: 'webhook.read',
  query: z.strictObject({ ...cursorPaging, event: oneOf(EVENTS).optional() }),
  response: { status: 200, body: cursorPageOf(Event) },
  errors: [],
  uses: { table: ['Query'] },
})
