import * as z from 'zod'
import type { ClinicFacts } from '../domain/clinic.ts'
import { DELIVERY_STATUSES, type Delivery as DeliveryRecord } from '../domain/delivery.ts'
import { EVENTS } from '../domain/event.ts'
import { line } from '../domain/text-fields.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import type { Webhook as WebhookRecord } from '../domain/webhook.ts'
import { secretIssue } from '../domain/webhook-secret.ts'
import { webhookUrlIssue } from '../domain/webhook-url.ts'
import { ApiError } from './errors.ts'
import { EVENT_NAMES } from './events.ts'
import { defineRoute } from './route.ts'
import { cursorPageOf, cursorPaging, one, oneOf, pageOf, paging, Timestamp, Uuid } from './schemas.ts'

const fields = {
  id: Uuid,
  url: z.string(),
  events: z.array(oneOf(EVENTS)),
  is_active: z.boolean(),
  description: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
}

/** Spec section 2, Webhook endpoint; never its secret. */
export const Webhook = z.strictObject(fields).meta({ id: 'Webhook' })

/** The one time that a secret is shown. */
const WebhookWithSecret = z.strictObject({ ...fields, secret: z.string() }).meta({ id: 'WebhookWithSecret' })

/** One event on its way to one endpoint. */
export const Delivery = z
  .strictObject({
    id: Uuid,
    event_id: z.string(),
    event: oneOf(EVENT_NAMES),
    status: oneOf(DELIVERY_STATUSES),
    attempts: z.array(
      z.strictObject({
        attempted_at: Timestamp,
        response_status: z.int().nullable(),
        error: z.string().nullable(),
        latency_ms: z.int().min(0),
      }),
    ),
    next_attempt_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Delivery' })

export const renderWebhook = (webhook: WebhookRecord, clinic: ClinicFacts): z.input<typeof Webhook> => ({
  id: webhook.id,
  url: webhook.url,
  events: [...webhook.events] as z.input<typeof Webhook>['events'],
  is_active: webhook.isActive,
  description: webhook.description,
  created_at: clinicTimestamp(webhook.createdAt, clinic.timezone),
  updated_at: clinicTimestamp(webhook.updatedAt, clinic.timezone),
})

export const renderWithSecret = (webhook: WebhookRecord, clinic: ClinicFacts) => ({
  ...renderWebhook(webhook, clinic),
  secret: webhook.secret,
})

export function renderDelivery(delivery: DeliveryRecord, clinic: ClinicFacts): z.input<typeof Delivery> {
  const shown = (instant: string) => clinicTimestamp(instant, clinic.timezone)
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event: delivery.event,
    status: delivery.status,
    attempts: delivery.attempts.map(({ at, status, error, latencyMs }) => ({
      attempted_at: shown(at),
      response_status: status,
      error,
      latency_ms: latencyMs,
    })),
    next_attempt_at: delivery.nextAt === null ? null : shown(new Date(delivery.nextAt).toISOString()),
    created_at: shown(new Date(delivery.createdAt).toISOString()),
  }
}

/** Judged by the endpoint, which alone knows what is allowed where it runs. */
const Url = z.string({ error: 'must be text' })

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

const Description = line(500).nullish()

const Secret = z.string({ error: 'must be text' }).superRefine((secret, context) => {
  const issue = secretIssue(secret)
  if (issue !== null) context.addIssue({ code: 'custom', message: issue })
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
  scope: 'webhook.write',
  body: z.strictObject({ url: Url, events: Events, description: Description, secret: Secret.optional() }),
  response: { status: 201, body: one(WebhookWithSecret), location: '/webhooks' },
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
  body: z.strictObject({
    url: Url.optional(),
    events: Events.optional(),
    description: Description,
    is_active: z.boolean({ error: 'must be true or false' }).optional(),
  }),
  response: { status: 200, body: one(Webhook) },
  errors: ['webhook_not_found'],
  uses: { table: ['GetItem', 'PutItem'] },
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
  uses: { table: ['GetItem', 'UpdateItem', 'DeleteItem'] },
})

export const rotateWebhookSecret = defineRoute({
  id: 'rotate-webhook-secret',
  method: 'POST',
  path: '/webhooks/{id}/rotate-secret',
  summary: 'Give an endpoint a new secret; both sign for 24 hours',
  scope: 'webhook.write',
  params: { id: 'webhook_not_found' },
  body: z.strictObject({ secret: Secret.optional() }),
  response: { status: 200, body: one(WebhookWithSecret) },
  errors: ['webhook_not_found'],
  uses: { table: ['GetItem', 'PutItem'] },
})

export const pingWebhook = defineRoute({
  id: 'ping-webhook',
  method: 'POST',
  path: '/webhooks/{id}/ping',
  summary: 'Send a webhook.ping to an endpoint, subscribed or not',
  scope: 'webhook.write',
  params: { id: 'webhook_not_found' },
  body: z.strictObject({}),
  response: { status: 202, body: one(Delivery) },
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
  scope: 'webhook.write',
  params: { id: 'webhook_not_found', delivery_id: 'delivery_not_found' },
  body: z.strictObject({}),
  response: { status: 202, body: one(Delivery) },
  errors: ['webhook_not_found', 'delivery_not_found'],
  uses: { table: ['GetItem', 'PutItem', 'DeleteItem'], services: ['delivery-queue'] },
})
