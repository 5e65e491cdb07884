import type { EventName } from '../../domain/event.ts'
import { EVENT_NAMES, EVENT_PAYLOADS } from '../events.ts'
import type { Examples } from './examples.ts'
import type { Json, SchemaCollector } from './schemas.ts'
import { EVENTS_TAG } from './tags.ts'

/** When each event occurs. */
export const EVENT_SUMMARIES: Record<EventName, string> = {
  'patient.created': 'A patient was created',
  'patient.updated': 'A patient was updated',
  'patient.erased': 'A patient was erased',
  'appointment.created': 'An appointment was created',
  'appointment.updated': 'An appointment was updated without a status change',
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
  'import.completed':
    'An import of a file was completed; its records have events of their own only on request',
  'webhook.ping': 'A ping was requested',
}

/** The headers of every delivery (Standard Webhooks), by component name. */
const PARAMETERS: Record<string, Json & { readonly name: string }> = {
  WebhookId: {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'The `id` of the event. The same on every attempt.',
    schema: { type: 'string', pattern: '^evt_[0-9a-f-]{36}$' },
  },
  WebhookTimestamp: {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description:
      'When this attempt was made, in seconds since the Unix epoch. Reject deliveries that are more than five minutes old.',
    schema: { type: 'integer' },
  },
  WebhookSignature: {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      '`v1,` followed by the base64 of the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`, with the body exactly as ' +
      'received. After a secret rotation there are two signatures, separated by a space; accept the delivery if either matches.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
  },
}

/** The parameters with matching recorded values: the signature belongs to the ping example and the secret in the document. */
export const deliveryParameters = ({ events }: Pick<Examples, 'events'>): Json =>
  Object.fromEntries(
    Object.entries(PARAMETERS).map(([component, parameter]) => {
      const seen = events['webhook.ping']?.headers[parameter.name]
      const isNumber = parameter.name === 'webhook-timestamp'
      return [component, { ...parameter, ...(seen && { example: isNumber ? Number(seen) : seen }) }]
    }),
  )

/** Every event with its payload, as the document's `webhooks`. */
export const webhookOperations = (schemas: SchemaCollector, { events }: Pick<Examples, 'events'>): Json =>
  Object.fromEntries(
    EVENT_NAMES.map((event) => [
      event,
      {
        post: {
          operationId: event,
          tags: [EVENTS_TAG],
          summary: EVENT_SUMMARIES[event],
          security: [],
          parameters: Object.keys(PARAMETERS).map((name) => ({
            $ref: `#/components/parameters/${name}`,
          })),
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: schemas.schemaOf(EVENT_PAYLOADS[event], 'output'),
                ...(events[event] && { examples: { default: { value: events[event].body } } }),
              },
            },
          },
          responses: RESPONSES,
        },
      },
    ]),
  )

const RESPONSES: Json = {
  '2XX': {
    description:
      'The delivery succeeded. Respond as soon as you have stored the event and process it afterwards: an attempt times out ' +
      'after 15 seconds, and a first attempt that takes longer than one second is aborted and repeated.',
  },
  410: { description: 'The endpoint is gone. It is disabled.' },
  default: {
    description:
      'Any other response, including a redirect, is a failure. The delivery is retried after 5 s, 5 min, 30 min, 2 h, 5 h, ' +
      '10 h, 14 h, 20 h and 24 h, or later if `retry-after` requests a longer wait of up to a day.',
  },
}
