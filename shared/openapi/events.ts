import { EVENT_NAMES, EVENT_PAYLOADS } from '../api/events.ts'
import { signatureHeaders } from '../delivery/webhooks/webhook-signature.ts'
import {
  appointmentEventDraft,
  clinicEventDraft,
  doctorEventDraft,
  type Event,
  type EventName,
  eventPayload,
  IMPORT_COMPLETED,
  importEventDraft,
  invoiceEventDraft,
  messageEventDraft,
  PING,
  patientEventDraft,
  paymentEventDraft,
  scopeOfEvent,
  treatmentEventDraft,
} from '../domain/webhooks/event.ts'
import {
  appointment,
  appointmentAfter,
  CANCELLATION,
  clinic,
  doctor,
  email,
  exampleId,
  invoice,
  NOW,
  patient,
  payments,
  sms,
  treatment,
  unpaidInvoice,
  webhook,
} from './example-records.ts'
import type { Json, SchemaCollector } from './schemas.ts'
import { EVENTS_TAG } from './tags.ts'

/** When each event occurs. */
export const EVENT_SUMMARIES: Record<EventName, string> = {
  'patient.created': 'A patient was created',
  'patient.updated': 'A patient was updated',
  'patient.erased': 'A patient was erased',
  'appointment.created': 'An appointment was created',
  'appointment.updated': 'An appointment was moved, changed or reopened',
  'appointment.confirmed': 'The patient confirmed an appointment',
  'appointment.checked_in': 'The patient of an appointment arrived',
  'appointment.cancelled': 'An appointment was cancelled',
  'appointment.completed': 'An appointment was completed',
  'appointment.no_show': 'A patient missed an appointment',
  'invoice.created': 'An invoice was created',
  'invoice.updated': 'An invoice was updated, or a payment changed its balance',
  'invoice.paid': 'An invoice was paid in full',
  'payment.created': 'A payment or refund was recorded',
  'payment.updated': 'A payment or refund was voided or corrected',
  'sms.sent': 'An SMS was accepted by the provider',
  'sms.delivered': 'An SMS was delivered',
  'sms.failed': 'An SMS was rejected or could not be delivered',
  'email.sent': 'An email was accepted by the provider',
  'email.delivered': 'An email was delivered',
  'email.failed': 'An email was rejected or bounced',
  'doctor.created': 'A doctor was created',
  'doctor.updated': 'A doctor, their working hours or days off were changed',
  'treatment.created': 'A treatment was created',
  'treatment.updated': 'A treatment was updated',
  'clinic.updated': 'Settings, holidays, departments, rooms or price lists of the clinic were changed',
  'import.completed':
    'An import of a file was completed; its records have events only if the operator requests them',
  'webhook.ping': 'A ping was requested',
}

/** How a receiver reads the record of an event, by the start of its name. */
const READS: Readonly<Record<string, string>> = {
  patient: '`GET /patients/{id}`',
  appointment: '`GET /appointments/{id}`',
  invoice: '`GET /invoices/{id}`',
  payment: '`GET /payments/{id}`',
  sms: '`GET /messages/{id}`',
  email: '`GET /messages/{id}`',
  doctor: '`GET /doctors/{id}`',
  treatment: '`GET /clinic/treatments/{id}`',
}

function descriptionOf(event: EventName): string {
  const read = READS[event.slice(0, event.indexOf('.'))]
  const summary = `${EVENT_SUMMARIES[event]}.`
  if (read) return `${summary} ${read} returns the record, and requires the scope \`${scopeOfEvent(event)}\`.`
  if (event === PING)
    return `${summary} \`data.id\` is the webhook endpoint. Sent by \`POST /webhooks/{id}/ping\`, and not listed by \`GET /events\`.`
  if (event === 'clinic.updated')
    return `${summary} \`data.changed\` says which. Requires the scope \`${scopeOfEvent(event)}\`. Read the list or \`GET /clinic\` again.`
  return `${summary} The lists of \`data.entity\` show the records.`
}

const at = new Date(NOW).toISOString()
const [payment] = payments
const appointmentAction = (action: Parameters<typeof appointmentAfter>[0]) =>
  appointmentEventDraft(appointment, appointmentAfter(action))

/** A change that causes each event, and its sequence number. */
const EXAMPLES: Record<EventName, readonly [sequence: number, Pick<Event, 'event' | 'data'> | null]> = {
  'patient.created': [1, patientEventDraft(null, patient)],
  'patient.updated': [2, patientEventDraft(patient, { ...patient, notes: null })],
  'patient.erased': [3, patientEventDraft(patient, { ...patient, erasedAt: at })],
  'appointment.created': [1, appointmentEventDraft(null, appointment)],
  'appointment.updated': [2, appointmentEventDraft(appointment, { ...appointment, notes: null })],
  'appointment.confirmed': [2, appointmentAction({ kind: 'confirm' })],
  'appointment.checked_in': [2, appointmentAction({ kind: 'check_in' })],
  'appointment.cancelled': [2, appointmentAction(CANCELLATION)],
  'appointment.completed': [2, appointmentAction({ kind: 'complete' })],
  'appointment.no_show': [2, appointmentAction({ kind: 'no_show' })],
  'invoice.created': [1, invoiceEventDraft(null, unpaidInvoice)],
  'invoice.updated': [2, invoiceEventDraft(unpaidInvoice, { ...unpaidInvoice, dueDate: '2030-02-11' })],
  'invoice.paid': [3, invoiceEventDraft(unpaidInvoice, invoice)],
  'payment.created': [1, paymentEventDraft(null, payment)],
  'payment.updated': [2, paymentEventDraft(payment, { ...payment, description: 'Deposit' })],
  'sms.sent': [1, messageEventDraft(null, sms)],
  'sms.delivered': [2, messageEventDraft(sms, { ...sms, status: 'delivered' })],
  'sms.failed': [2, messageEventDraft(sms, { ...sms, status: 'failed' })],
  'email.sent': [1, messageEventDraft(null, { ...email, status: 'sent' })],
  'email.delivered': [2, messageEventDraft(null, email)],
  'email.failed': [2, messageEventDraft(null, { ...email, status: 'failed' })],
  'doctor.created': [1, doctorEventDraft(null, doctor)],
  'doctor.updated': [2, doctorEventDraft(doctor, { ...doctor, isActive: false })],
  'treatment.created': [1, treatmentEventDraft(null, treatment)],
  'treatment.updated': [2, treatmentEventDraft(treatment, { ...treatment, isActive: false })],
  'clinic.updated': [1, clinicEventDraft('holidays')],
  'import.completed': [1, importEventDraft('patients', { imported: 480, updated: 20 })],
  'webhook.ping': [1, { event: PING, data: { id: webhook.id } }],
}

const REQUESTED = { source: 'api', requestId: 'JKJaXmPLvHcESHA=' } as const

/** @throws Error if the example causes another event */
export function exampleEvent(event: EventName): Event {
  const [sequence, draft] = EXAMPLES[event]
  if (draft?.event !== event)
    throw new Error(`The example of ${event} is one of ${draft?.event ?? 'no event'}.`)
  const id = exampleId(event)
  const isOfProvider = /^(sms|email)\./.test(event)
  return {
    ...{ ...draft, id, record: String(draft.data.id ?? id), sequence, createdAt: at },
    ...(event === IMPORT_COMPLETED ? { source: 'import' } : isOfProvider ? { source: 'system' } : REQUESTED),
  }
}

/** The headers of every delivery (Standard Webhooks). */
const PARAMETERS: readonly (Json & { readonly name: string; readonly schema: Json })[] = [
  {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'The `id` of the event. The same on every attempt.',
    schema: { type: 'string', pattern: '^evt_[0-9a-f-]{36}$' },
  },
  {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description:
      'When this attempt was made, in seconds since the Unix epoch. Reject deliveries that are more than five minutes old.',
    schema: { type: 'integer' },
  },
  {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      '`v1,` followed by the base64 of the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`, with the body exactly as ' +
      'received. After a secret rotation there are several signatures, separated by spaces; accept the delivery if one matches.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
  },
]

/** The parameters with the headers of the example of a ping, which is signed with the secret in the document. */
function deliveryParameters(): Json[] {
  const body = eventPayload(exampleEvent(PING), clinic)
  const headers: Readonly<Record<string, string>> = signatureHeaders({
    id: body.id,
    timestampSeconds: NOW / 1000,
    body: JSON.stringify(body),
    secrets: [webhook.secret],
  })
  return PARAMETERS.map((parameter) => {
    const { name, schema } = parameter
    const example = schema.type === 'integer' ? Number(headers[name]) : headers[name]
    return { ...parameter, example }
  })
}

/** Every event with its payload, as the document's `webhooks`. */
export function webhookOperations(schemas: SchemaCollector): Json {
  // Not components: generators omit those that only webhooks use.
  const parameters = deliveryParameters()
  return Object.fromEntries(
    EVENT_NAMES.map((event) => [
      event,
      {
        post: {
          operationId: event,
          tags: [EVENTS_TAG],
          summary: EVENT_SUMMARIES[event],
          description: descriptionOf(event),
          security: [],
          parameters,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: schemas.descriptions.schema(
                  'Event',
                  schemas.schemaOf(EVENT_PAYLOADS[event], 'output'),
                ),
                examples: { default: { value: eventPayload(exampleEvent(event), clinic) } },
              },
            },
          },
          responses: RESPONSES,
        },
      },
    ]),
  )
}

const RESPONSES: Json = {
  '2XX': {
    description:
      'The delivery succeeded. Respond as soon as you have stored the event and process it afterwards: an attempt is aborted ' +
      'after one second, and repeated at once with a limit of 15 seconds.',
  },
  410: { description: 'The endpoint is gone. It is disabled.' },
  default: {
    description:
      'Any other response, including a redirect, is a failure. The delivery is retried after 5 s, 5 min, 30 min, 2 h, 5 h, ' +
      '10 h, 14 h, 20 h and 24 h, or later if `retry-after` requests a longer wait of up to a day.',
  },
}
