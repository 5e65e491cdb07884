import * as z from 'zod'
import { APPOINTMENT_STATUSES } from '../domain/booking/appointment.ts'
import { INVOICE_STATUSES } from '../domain/money/invoice.ts'
import { PAYMENT_STATUSES } from '../domain/money/payment.ts'
import type { Scope } from '../domain/scope.ts'
import {
  CLINIC_PARTS,
  EVENT_SOURCES,
  EVENTS,
  type EventData,
  type EventName,
  type eventPayload,
  maySeeEvent,
  PING,
  scopeOfEvent,
} from '../domain/webhooks/event.ts'
import { EVENT_ALIAS_NAMES, eventOf } from './aliases.ts'
import { missingScope } from './errors.ts'
import { defineRoute } from './route.ts'
import {
  CalendarDate,
  CursorMeta,
  cursorPageOf,
  cursorPaging,
  oneOf,
  TimeOfDay,
  Timestamp,
  Uuid,
} from './schemas.ts'

/** Every event type, in the order of the catalogue. */
export const EVENT_NAMES = [...EVENTS, PING] as const satisfies readonly EventName[]

// Loose, with optional fields: events of earlier and later versions lack some fields, or have others.
const patientData = z.looseObject({ id: Uuid })

const appointmentData = (status: z.ZodType) =>
  z.looseObject({
    id: Uuid,
    patient_id: Uuid,
    doctor_id: Uuid,
    treatment_ids: z.array(Uuid).optional(),
    room_id: Uuid.nullable().optional(),
    status,
    appointment_date: CalendarDate,
    start_time: TimeOfDay,
    end_time: TimeOfDay,
  })

const invoiceData = (status: z.ZodType) =>
  z.looseObject({
    id: Uuid,
    patient_id: Uuid,
    appointment_id: Uuid.nullable().optional(),
    doctor_id: Uuid.nullable().optional(),
    status,
    issue_date: CalendarDate,
    due_date: CalendarDate.nullable(),
  })

const paymentData = z.looseObject({
  id: Uuid,
  invoice_id: Uuid,
  patient_id: Uuid,
  status: oneOf(PAYMENT_STATUSES),
  payment_date: CalendarDate,
})

const messageData = (status: string) =>
  z.looseObject({ id: Uuid, patient_id: Uuid, status: z.literal(status) })

const catalogueData = z.looseObject({ id: Uuid, is_active: z.boolean() })

/** The `data` of each event type: ids, statuses, dates, times and counts; no names, contact details or texts. */
const DATA: Record<EventName, z.ZodObject> = {
  'patient.created': patientData,
  'patient.updated': patientData,
  'patient.erased': patientData,
  'appointment.created': appointmentData(oneOf(APPOINTMENT_STATUSES)),
  'appointment.updated': appointmentData(oneOf(APPOINTMENT_STATUSES)),
  'appointment.confirmed': appointmentData(z.literal('scheduled')),
  'appointment.checked_in': appointmentData(z.literal('scheduled')),
  'appointment.cancelled': appointmentData(z.literal('cancelled')),
  'appointment.completed': appointmentData(z.literal('completed')),
  'appointment.no_show': appointmentData(z.literal('no_show')),
  'invoice.created': invoiceData(oneOf(INVOICE_STATUSES)),
  'invoice.updated': invoiceData(oneOf(INVOICE_STATUSES)),
  'invoice.paid': invoiceData(z.literal('paid')),
  'payment.created': paymentData,
  'payment.updated': paymentData,
  'sms.sent': messageData('sent'),
  'sms.delivered': messageData('delivered'),
  'sms.failed': messageData('failed'),
  'email.sent': messageData('sent'),
  'email.delivered': messageData('delivered'),
  'email.failed': messageData('failed'),
  'doctor.created': catalogueData,
  'doctor.updated': catalogueData,
  'treatment.created': catalogueData,
  'treatment.updated': catalogueData,
  'clinic.updated': z.looseObject({ changed: oneOf(CLINIC_PARTS) }),
  'import.completed': z.looseObject({
    entity: z.string(),
    imported: z.int().min(0),
    updated: z.int().min(0),
  }),
  'webhook.ping': z.looseObject({ id: Uuid }),
}

/** The name of an event in a request: aliases too. Parsing replaces an alias by the event that it stands for. */
export const RequestedEvent = z
  .enum([...EVENTS, ...EVENT_ALIAS_NAMES], { error: `must be one of ${EVENTS.join(', ')}` })
  .transform(eventOf)

type Payload = ReturnType<typeof eventPayload>

/** An event as it is delivered and listed. */
function payload(event: EventName): z.ZodObject {
  const schema = z.strictObject({
    id: z.string().regex(/^evt_[0-9a-f-]{36}$/),
    event: z.literal(event),
    clinic_id: Uuid,
    created_at: Timestamp,
    sequence: z.int().min(1),
    // Bodies of deliveries that were stored before have neither.
    source: oneOf(EVENT_SOURCES).nullable().optional(),
    request_id: z.string().nullable().optional(),
    data: DATA[event],
  })
  // No endpoint returns a ping, and generators omit components that only webhooks use.
  return event === PING ? schema : schema.meta({ id: `${componentName(event)}Event` })
}

/** Requires the scopes that read the records of events. @throws ApiError naming those that are missing */
export function requireEventScopes(
  scopes: readonly Scope[],
  events: readonly EventName[],
  data?: EventData,
): void {
  const unseen = events.filter((event) => !maySeeEvent(scopes, event, data))
  const missing = new Set(unseen.flatMap((event) => scopeOfEvent(event, data) ?? []))
  if (unseen.length > 0) throw missingScope([...missing])
}

/** `appointment.no_show` is `AppointmentNoShow`. */
const componentName = (event: EventName): string =>
  event.replace(/(?:^|[._])([a-z])/g, (_all, letter: string) => letter.toUpperCase())

type PayloadSchema = z.ZodObject & z.ZodType<Payload, Payload>

/** The payload of each event type, as webhook endpoints receive it. */
export const EVENT_PAYLOADS = Object.fromEntries(
  EVENT_NAMES.map((event) => [event, payload(event)]),
) as Record<EventName, PayloadSchema>

/** An event of a record. Excludes `webhook.ping`, which GET /events does not list. */
export const Event = z
  .discriminatedUnion(
    'event',
    EVENTS.map((event) => EVENT_PAYLOADS[event]) as [PayloadSchema, ...PayloadSchema[]],
  )
  .meta({ id: 'Event' })

const EventListMeta = z.lazy(() =>
  CursorMeta.unwrap().extend({ next_after: z.string() }).meta({ id: 'EventListMeta' }),
)

export const listEvents = defineRoute({
  id: 'list-events',
  method: 'GET',
  path: '/events',
  summary: 'List events',
  description:
    'Lists the events of the last 30 days whose records the credential may read, oldest first. After an outage of your webhook endpoint, ' +
    'start from the last `next_after` that you stored, and repeat while `has_more` is true. The filter can be changed at any cursor.',
  scope: 'webhook.read',
  query: z.strictObject({ ...cursorPaging(), event: RequestedEvent.optional() }),
  response: { status: 200, body: cursorPageOf(Event, EventListMeta) },
  errors: ['invalid_cursor'],
})
