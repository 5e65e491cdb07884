import * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import { DELIVERY_STATUSES, type Delivery as DeliveryRecord } from '../domain/delivery.ts'
import { EVENTS } from '../domain/event.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import type { Webhook as WebhookRecord } from '../domain/webhook.ts'
import { secretIssue } from '../domain/webhook-secret.ts'
import { webhookUrlIssue } from '../domain/webhook-url.ts'
import { ApiError } from './errors.ts'
import { EVENT_NAMES } from './events.ts'
import { defineRoute } from './route.ts'
import {
  cursorPageOf,
  cursorPaging,
  envelopeOf,
  oneOf,
  pageOf,
  paging,
  shortText,
  Timestamp,
  Uuid,
} from './schemas.ts'

const fields = {
  id: Uuid,
  url: z.string(),
  events: z.array(oneOf(EVENTS)),
  is_active: z.boolean().meta({
    description:
      'Nothing is delivered while it is false. An endpoint that is gone, or only failed for days, becomes so.',
  }),
  description: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
}

/** Spec section 2, Webhook endpoint; never its secret. */
export const Webhook = z.strictObject(fields).meta({ id: 'Webhook' })

/** The one time that a secret is shown. */
const WebhookWithSecret = z
  .strictObject({ ...fields, secret: z.string().meta({ description: 'Signs deliveries. Shown this once.' }) })
  .meta({ id: 'WebhookWithSecret' })

/** One event on its way to one endpoint. */
export const Delivery = z
  .strictObject({
    id: Uuid,
    event_id: z.string().meta({ description: 'The same for every endpoint and every attempt.' }),
    event: oneOf(EVENT_NAMES),
    status: oneOf(DELIVERY_STATUSES),
    attempts: z.array(
      z.strictObject({
        attempted_at: Timestamp,
        response_status: z.int().nullable().meta({ description: 'Null for no answer.' }),
        error: z.string().nullable().meta({ description: 'Why there was no answer, in a word.' }),
        latency_ms: z.int().min(0),
      }),
    ),
    next_attempt_at: Timestamp.nullable().meta({ description: 'Null when it is done.' }),
    created_at: Timestamp,
  })
  .meta({ id: 'Delivery' })

export const renderWebhook = (webhook: WebhookRecord, clinic: ClinicInfo): z.input<typeof Webhook> => ({
  id: webhook.id,
  url: webhook.url,
  events: [...webhook.events] as z.input<typeof Webhook>['events'],
  is_active: webhook.isActive,
  description: webhook.description,
  created_at: clinicTimestamp(webhook.createdAt, clinic.timezone),
  updated_at: clinicTimestamp(webhook.updatedAt, clinic.timezone),
})

export const renderWebhookWithSecret = (webhook: WebhookRecord, clinic: ClinicInfo) => ({
  ...renderWebhook(webhook, clinic),
  secret: webhook.secret,
})

export function renderDelivery(delivery: DeliveryRecord, clinic: ClinicInfo): z.input<typeof Delivery> {
  const toTimestamp = (instant: string) => clinicTimestamp(instant, clinic.timezone)
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event: delivery.event,
    status: delivery.status,
    attempts: delivery.attempts.map(({ at, status, error, latencyMs }) => ({
      attempted_at: toTimestamp(at),
      response_status: status,
      error,
      latency_ms: latencyMs,
    })),
    next_attempt_at: delivery.nextAt === null ? null : toTimestamp(new Date(delivery.nextAt).toISOString()),
    created_at: toTimestamp(new Date(delivery.createdAt).toISOString()),
  }
}

/** Judged by the endpoint, which alone knows what is allowed where it runs. */
const Url = z.string({ error: 'must be text' }).meta({
  format: 'uri',
  maxLength: 2048,
  description: 'https, a public host name, port 443 or 8443; no user name, password or fragment.',
})

/** An address as it is kept. @throws ApiError naming `url` for one that webhooks are not sent to */
export function publicUrl(text: string, allowedHost: string | undefined): string {
  const issue = webhookUrlIssue(text, allowedHost)
  if (issue !== null) throw new ApiError('validation', { details: [{ field: 'url', issue }] })
  return new URL(text).href
}

const Events = z
  .array(oneOf(EVENTS), { error: 'must be a list of event names' })
  .min(1, { error: 'must name at least one event' })
  .refine((events) => new Set(events).size === events.length, { error: 'must not name an event twice' })
  .meta({ uniqueItems: true })

const Description = shortText(500).nullish()

const Secret = z
  .string({ error: 'must be text' })
  .superRefine((secret, context) => {
    const issue = secretIssue(secret)
    if (issue !== null) context.addIssue({ code: 'custom', message: issue })
  })
  .meta({
    minLength: 16,
    maxLength: 256,
    pattern: String.raw`^[\x21-\x7e]+$`,
    description:
      'Your own: `whsec_` and the base64 of 24 to 64 bytes, or any 16 to 256 visible ASCII characters, used as they are. ' +
      'Without it, we make one.',
  })

export const listWebhooks = defineRoute({
  id: 'list-webhooks',
  method: 'GET',
  path: '/webhooks',
  summary: 'List the webhook endpoints, oldest first',
  scope: 'webhook.read',
  query: z.strictObject(paging),
  response: { status: 200, body: pageOf(Webhook) },
  errors: [],
  uses: { table: ['Query'] },
})

export const createWebhook = defineRoute({
  id: 'create-webhook',
  method: 'POST',
  path: '/webhooks',
  summary: 'Subscribe an address to events; its secret is shown once',
  description:
    'A clinic has at most 20. Deliveries are signed as [Standard Webhooks](https://www.standardwebhooks.com) has it, so its ' +
    'libraries verify them. See the webhooks below for what arrives.',
  scope: 'webhook.write',
  body: z
    .strictObject({ url: Url, events: Events, description: Description, secret: Secret.optional() })
    .meta({ id: 'NewWebhook' }),
  response: { status: 201, body: envelopeOf(WebhookWithSecret), location: '/webhooks' },
  errors: ['too_many_webhooks'],
  uses: { table: ['GetItem', 'PutItem', 'UpdateItem'] },
})

export const updateWebhook = defineRoute({
  id: 'update-webhook',
  method: 'PATCH',
  path: '/webhooks/{id}',
  summary: 'Change a webhook endpoint; only fields that are sent change',
  scope: 'webhook.write',
  params: { id: 'webhook_not_found' },
  body: z
    .strictObject({
      url: Url.optional(),
      events: Events.optional(),
      description: Description,
      is_active: z.boolean({ error: 'must be true or false' }).optional(),
    })
    .meta({ id: 'WebhookChanges' }),
  response: { status: 200, body: envelopeOf(Webhook) },
  errors: ['webhook_not_found'],
  uses: { table: ['GetItem', 'PutItem', 'DeleteItem'] },
})

export const deleteWebhook = defineRoute({
  id: 'delete-webhook',
  method: 'DELETE',
  path: '/webhooks/{id}',
  summary: 'Remove a webhook endpoint for good',
  scope: 'webhook.write',
  params: { id: 'webhook_not_found' },
  response: { status: 204, body: z.undefined() },
  errors: ['webhook_not_found'],
  uses: { table: ['UpdateItem', 'DeleteItem'] },
})

export const rotateWebhookSecret = defineRoute({
  id: 'rotate-webhook-secret',
  method: 'POST',
  path: '/webhooks/{id}/rotate-secret',
  summary: 'Give an endpoint a new secret; both sign for 24 hours',
  scope: 'webhook.write',
  params: { id: 'webhook_not_found' },
  body: z.strictObject({ secret: Secret.optional() }).meta({ id: 'NewSecret' }),
  response: { status: 200, body: envelopeOf(WebhookWithSecret) },
  errors: ['webhook_not_found'],
  uses: { table: ['GetItem', 'PutItem'] },
})

export const pingWebhook = defineRoute({
  id: 'ping-webhook',
  method: 'POST',
  path: '/webhooks/{id}/ping',
  summary: 'Send a webhook.ping to an endpoint, subscribed or not',
  description: 'Attempted even when the endpoint is not active. The deliveries show what became of it.',
  scope: 'webhook.write',
  params: { id: 'webhook_not_found' },
  body: z.strictObject({}),
  response: { status: 202, body: envelopeOf(Delivery) },
  errors: ['webhook_not_found'],
  uses: { table: ['GetItem', 'PutItem'], services: ['delivery-queue'] },
})

export const listDeliveries = defineRoute({
  id: 'list-deliveries',
  method: 'GET',
  path: '/webhooks/{id}/deliveries',
  summary: 'List the deliveries of the last 30 days to an endpoint, newest first',
  scope: 'webhook.read',
  params: { id: 'webhook_not_found' },
  query: z.strictObject(cursorPaging),
  response: { status: 200, body: cursorPageOf(Delivery) },
  errors: ['webhook_not_found'],
  uses: { table: ['GetItem', 'Query'] },
})

export const redeliver = defineRoute({
  id: 'redeliver',
  method: 'POST',
  path: '/webhooks/{id}/deliveries/{delivery_id}/redeliver',
  summary: 'Deliver an event to an endpoint again, with a schedule of its own',
  description: 'The same id and body as before, signed anew. Attempted even when the endpoint is not active.',
  scope: 'webhook.write',
  params: { id: 'webhook_not_found', delivery_id: 'delivery_not_found' },
  body: z.strictObject({}),
  response: { status: 202, body: envelopeOf(Delivery) },
  errors: ['webhook_not_found', 'delivery_not_found'],
  uses: { table: ['GetItem', 'PutItem', 'DeleteItem'], services: ['delivery-queue'] },
})
