import type { EventName } from '../../domain/event.ts'
import { EVENT_NAMES, EVENT_PAYLOADS } from '../events.ts'
import type { Examples } from './examples.ts'
import type { Json, SchemaCollector } from './schemas.ts'
import { EVENTS_TAG } from './tags.ts'

/** When each event is made. */
const SUMMARIES: Record<EventName, string> = {
  'patient.created': 'A patient was entered',
  'patient.updated': 'A patient was changed, or erased',
  'appointment.created': 'An appointment was booked',
  'appointment.updated': 'An appointment was changed, but for its status',
  'appointment.cancelled': 'An appointment was cancelled',
  'appointment.completed': 'An appointment took place',
  'appointment.no_show': 'A patient did not come',
  'invoice.created': 'An invoice was made',
  'invoice.updated': 'An invoice was changed, or a payment changed what is due',
  'invoice.paid': 'An invoice was paid in full',
  'payment.created': 'A payment or refund was recorded',
  'sms.sent': 'An SMS was handed over',
  'sms.delivered': 'An SMS arrived',
  'sms.failed': 'An SMS was refused, or did not arrive',
  'email.sent': 'An email was handed over',
  'email.delivered': 'An email arrived',
  'email.failed': 'An email was refused, or bounced',
  'webhook.ping': 'A ping was asked for',
}

/** Headers of every delivery (Standard Webhooks), by their names as components. */
const PARAMETERS: Record<string, Json & { readonly name: string }> = {
  WebhookId: {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'The `id` of the event: the same at every attempt.',
    schema: { type: 'string', pattern: '^evt_[0-9a-f-]{36}$' },
  },
  WebhookTimestamp: {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'Of this attempt, in seconds since 1970. Refuse what is older than five minutes.',
    schema: { type: 'integer' },
  },
  WebhookSignature: {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      '`v1,` and the base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`, the body byte for byte. More ' +
      'than one, with spaces between, while a secret is being replaced: accept either.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
  },
}

/** With values that were seen together: the signature is of the ping's example, by the secret that the document shows. */
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
          summary: SUMMARIES[event],
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
  '2XX': { description: 'It arrived. Answer within 15 seconds, and work afterwards.' },
  410: { description: 'The receiver is gone: the endpoint is no longer active.' },
  default: {
    description:
      'Anything else, redirects included, is a failure, and tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h ' +
      'and 24 h, or later if `retry-after` asks for it.',
  },
}
