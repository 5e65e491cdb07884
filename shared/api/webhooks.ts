import * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import {
  type Delivery,
  type DeliveryAttempt as DeliveryAttemptRecord,
  isSuccess,
} from '../domain/webhooks/delivery.ts'
import { EVENTS, isKnownEvent } from '../domain/webhooks/event.ts'
import {
  MAX_PREVIOUS_SECRETS,
  MAX_WEBHOOKS,
  nextSecretEnd,
  type Webhook as WebhookRecord,
} from '../domain/webhooks/webhook.ts'
import type { WebhookHealth } from '../domain/webhooks/webhook-health.ts'
import { WEBHOOK_FIELD_ALIASES } from './aliases.ts'
import { DeliveryAttempt, renderAttempt } from './deliveries.ts'
import { ApiError } from './errors.ts'
import { defineRoute, type Route } from './route.ts'
import { envelopeOf, oneOf, pageOf, paging, Timestamp, Uuid } from './schemas.ts'
import { Description, Events, IsActive, Secret, Url, urlField } from './webhook-fields.ts'

/** A webhook endpoint as the API returns it. Never includes the secret. */
export const Webhook = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      url: z.string(),
      events: z.array(oneOf(EVENTS)),
      is_active: z.boolean(),
      description: z.string().nullable(),
      created_at: Timestamp,
      updated_at: Timestamp,
    })
    .meta({ id: 'Webhook' }),
)

/** A webhook endpoint with how it responds, which lists do not show. */
const WebhookDetails = z.lazy(() =>
  z
    .strictObject({
      ...Webhook.unwrap().shape,
      health: z
        .strictObject({
          is_slow: z.boolean(),
          failing_since: Timestamp.nullable(),
          next_attempt_at: Timestamp.nullable(),
          last_success: DeliveryAttempt.nullable(),
          last_failure: DeliveryAttempt.nullable(),
        })
        .meta({ id: 'WebhookHealth' }),
    })
    .meta({ id: 'WebhookDetails' }),
)

/** A webhook endpoint with its secret, which only creation and rotation return. */
const WebhookWithSecret = z.lazy(() =>
  z
    .strictObject({
      ...Webhook.unwrap().shape,
      secret: z.string().nullable(),
    })
    .meta({ id: 'WebhookWithSecret' }),
)

const oneWithSecret = { body: envelopeOf(WebhookWithSecret), record: { except: ['secret'] } } as const

export const renderWebhook = (webhook: WebhookRecord, clinic: ClinicInfo): z.input<typeof Webhook> => ({
  id: webhook.id,
  url: webhook.url,
  events: webhook.events.filter(isKnownEvent) as z.input<typeof Webhook>['events'],
  is_active: webhook.isActive,
  description: webhook.description,
  created_at: clinicTimestamp(webhook.createdAt, clinic.timezone),
  updated_at: clinicTimestamp(webhook.updatedAt, clinic.timezone),
})

/** The newest deliveries that the health of an endpoint is read from. */
export const HEALTH_DELIVERIES = 50

/** @param deliveries its newest ones */
export function renderWebhookDetails(
  webhook: WebhookRecord,
  { isSlow, failingSince }: WebhookHealth,
  deliveries: readonly Delivery[],
  clinic: ClinicInfo,
): z.input<typeof WebhookDetails> {
  const attempts = deliveries.flatMap((one) => one.attempts).toSorted((a, b) => (a.at < b.at ? 1 : -1))
  const last = (isWanted: (attempt: DeliveryAttemptRecord) => boolean) => {
    const attempt = attempts.find(isWanted)
    return attempt ? renderAttempt(attempt, clinic) : null
  }
  // A disabled endpoint gets requested deliveries only.
  const due = deliveries.flatMap(({ nextAt, isManual }) =>
    nextAt !== null && (webhook.isActive || isManual) ? [nextAt] : [],
  )
  const timestamp = (ms: number | null) =>
    ms === null ? null : clinicTimestamp(new Date(ms).toISOString(), clinic.timezone)
  return {
    ...renderWebhook(webhook, clinic),
    health: {
      is_slow: isSlow,
      failing_since: timestamp(failingSince),
      next_attempt_at: timestamp(due.length > 0 ? Math.min(...due) : null),
      last_success: last(({ status }) => isSuccess(status)),
      last_failure: last(({ status }) => !isSuccess(status)),
    },
  }
}

export const renderWebhookWithSecret = (webhook: WebhookRecord, clinic: ClinicInfo) => ({
  ...renderWebhook(webhook, clinic),
  secret: webhook.secret,
})

/** The response that is stored for repetitions: with the number of the secret in its place, since the webhook has the secret. */
export const renderStoredWebhook = (webhook: WebhookRecord, clinic: ClinicInfo) => ({
  data: { ...renderWebhook(webhook, clinic), secret: webhook.secretNumber },
})

/** The 409 of a rotation while too many replaced secrets still sign, with the time when the first of them ends. */
export const tooManyRotations = (webhook: WebhookRecord, now: number): ApiError =>
  new ApiError('too_many_rotations', {
    headers: { 'retry-after': String(Math.ceil(nextSecretEnd(webhook, now) / 1000)) },
  })

/** A route that also allows webhook URLs with this host (`HOST:PORT`, set by the local runner). */
export const allowWebhookHost = <R extends Route & { body: z.ZodObject }>(
  route: R,
  allowedHost: string | undefined,
): R => {
  if (allowedHost === undefined) return route
  const url = urlField(allowedHost)
  const isOptional = route.body.shape.url instanceof z.ZodOptional
  return { ...route, body: route.body.extend({ url: isOptional ? url.optional() : url }) }
}

export const listWebhooks = defineRoute({
  id: 'list-webhooks',
  method: 'GET',
  path: '/webhooks',
  summary: 'List webhook endpoints',
  description: 'Sorted by creation time, oldest first.',
  scope: 'webhook.read',
  query: z.strictObject(paging()),
  response: { status: 200, body: pageOf(Webhook) },
  errors: [],
})

export const getWebhook = defineRoute({
  id: 'get-webhook',
  method: 'GET',
  path: '/webhooks/{id}',
  summary: 'Retrieve a webhook endpoint',
  scope: 'webhook.read',
  params: { id: 'webhook_not_found' },
  response: { status: 200, body: envelopeOf(WebhookDetails), record: { except: ['health'] } },
  errors: ['webhook_not_found'],
})

const OPTIONAL_FIELDS = {
  description: Description,
  secret: Secret.optional(),
  is_active: IsActive.optional(),
}

export const createWebhook = defineRoute({
  id: 'create-webhook',
  method: 'POST',
  path: '/webhooks',
  summary: 'Create a webhook endpoint',
  description:
    'Subscribes a URL to events. A clinic can have at most ' +
    `${MAX_WEBHOOKS} endpoints. Deliveries are signed according to ` +
    '[Standard Webhooks](https://www.standardwebhooks.com), so its libraries can verify them. The Events section describes the ' +
    'payloads.',
  scope: 'webhook.write',
  readScope: 'webhook.read',
  body: z.strictObject({ url: Url, events: Events, ...OPTIONAL_FIELDS }).meta({ id: 'WebhookCreate' }),
  fieldAliases: WEBHOOK_FIELD_ALIASES,
  response: { status: 201, ...oneWithSecret, location: '/webhooks' },
  errors: ['too_many_webhooks'],
})

export const updateWebhook = defineRoute({
  id: 'update-webhook',
  method: 'PATCH',
  path: '/webhooks/{id}',
  summary: 'Update a webhook endpoint',
  description:
    'Changes only the fields that are sent. A new `secret` replaces the present one as `POST /webhooks/{id}/rotate-secret` ' +
    'does; the response does not contain it.',
  scope: 'webhook.write',
  readScope: 'webhook.read',
  params: { id: 'webhook_not_found' },
  body: z
    .strictObject({ url: Url.optional(), events: Events.optional(), ...OPTIONAL_FIELDS })
    .meta({ id: 'WebhookChanges' }),
  fieldAliases: WEBHOOK_FIELD_ALIASES,
  response: { status: 200, body: envelopeOf(Webhook), record: {} },
  errors: ['webhook_not_found', 'precondition_failed', 'too_many_rotations'],
})

export const deleteWebhook = defineRoute({
  id: 'delete-webhook',
  method: 'DELETE',
  path: '/webhooks/{id}',
  summary: 'Delete a webhook endpoint',
  description: 'Deletes the endpoint permanently. Pending deliveries to it are abandoned.',
  scope: 'webhook.write',
  readScope: 'webhook.read',
  params: { id: 'webhook_not_found' },
  response: { status: 204, body: z.undefined() },
  errors: ['webhook_not_found', 'precondition_failed'],
})

export const rotateWebhookSecret = defineRoute({
  id: 'rotate-webhook-secret',
  method: 'POST',
  path: '/webhooks/{id}/rotate-secret',
  summary: 'Rotate the secret of a webhook endpoint',
  description:
    'Replaces the secret. For 24 hours, deliveries are signed with both the old and the new secret. If it is rotated again ' +
    `within that time, every replaced secret still signs for its own 24 hours. At most ${MAX_PREVIOUS_SECRETS} do: a further ` +
    'rotation returns a 409 until the first of them has ended.',
  scope: 'webhook.write',
  readScope: 'webhook.read',
  params: { id: 'webhook_not_found' },
  body: z.strictObject({ secret: Secret.optional() }).meta({ id: 'SecretRotation' }),
  fieldAliases: WEBHOOK_FIELD_ALIASES,
  response: { status: 200, ...oneWithSecret },
  errors: ['webhook_not_found', 'too_many_rotations'],
})
