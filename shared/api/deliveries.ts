import * as z from 'zod'
import type { ClinicInfo } from '../domain/clinic.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import {
  type DeliveryAttempt as AttemptRecord,
  DELIVERY_STATUSES,
  type Delivery as DeliveryRecord,
} from '../domain/webhooks/delivery.ts'
import { EVENT_NAMES } from './events.ts'
import { defineRoute } from './route.ts'
import { CursorMeta, cursorPageOf, cursorPaging, envelopeOf, oneOf, Timestamp, Uuid } from './schemas.ts'

export const DeliveryAttempt = z.lazy(() =>
  z
    .strictObject({
      attempted_at: Timestamp,
      response_status: z.int().nullable(),
      error: z.string().nullable(),
      latency_ms: z.int().min(0),
    })
    .meta({ id: 'DeliveryAttempt' }),
)

export const renderAttempt = (
  { at, status, error, latencyMs }: AttemptRecord,
  { timezone }: ClinicInfo,
): z.input<typeof DeliveryAttempt> => ({
  attempted_at: clinicTimestamp(at, timezone),
  response_status: status,
  error,
  latency_ms: latencyMs,
})

/** The delivery of one event to one endpoint. */
export const Delivery = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      event_id: z.string(),
      event: oneOf(EVENT_NAMES),
      status: oneOf(DELIVERY_STATUSES),
      attempts: z.array(DeliveryAttempt),
      next_attempt_at: Timestamp.nullable(),
      created_at: Timestamp,
    })
    .meta({ id: 'Delivery' }),
)

export function renderDelivery(delivery: DeliveryRecord, clinic: ClinicInfo): z.input<typeof Delivery> {
  const toTimestamp = (instant: string) => clinicTimestamp(instant, clinic.timezone)
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event: delivery.event,
    status: delivery.status,
    attempts: delivery.attempts.map((attempt) => renderAttempt(attempt, clinic)),
    next_attempt_at: delivery.nextAt === null ? null : toTimestamp(new Date(delivery.nextAt).toISOString()),
    created_at: toTimestamp(new Date(delivery.createdAt).toISOString()),
  }
}

export const pingWebhook = defineRoute({
  id: 'ping-webhook',
  method: 'POST',
  path: '/webhooks/{id}/ping',
  summary: 'Ping a webhook endpoint',
  description:
    'Sends a `webhook.ping` event, even if the endpoint is disabled. The list of deliveries shows the outcome.',
  scope: 'webhook.write',
  params: { id: 'webhook_not_found' },
  body: z.strictObject({}),
  response: { status: 202, body: envelopeOf(Delivery) },
  errors: ['webhook_not_found'],
  uses: { services: ['delivery-queue'] },
})

export const listDeliveries = defineRoute({
  id: 'list-deliveries',
  method: 'GET',
  path: '/webhooks/{id}/deliveries',
  summary: 'List deliveries of a webhook endpoint',
  description:
    'Lists the deliveries of the last 30 days, newest first. Deliveries of events whose records the credential may not read are ' +
    'left out.',
  scope: 'webhook.read',
  params: { id: 'webhook_not_found' },
  query: z.strictObject(cursorPaging()),
  response: { status: 200, body: cursorPageOf(Delivery, CursorMeta) },
  errors: ['invalid_cursor', 'webhook_not_found'],
})

export const redeliver = defineRoute({
  id: 'redeliver',
  method: 'POST',
  path: '/webhooks/{id}/deliveries/{delivery_id}/redeliver',
  summary: 'Redeliver an event',
  description:
    'Sends the same event again, with the same id and body and a new signature, even if the endpoint is disabled. It is ' +
    'retried on the full schedule. Requires the scope that reads the records of the event.',
  scope: 'webhook.write',
  params: { id: 'webhook_not_found', delivery_id: 'delivery_not_found' },
  body: z.strictObject({}),
  response: { status: 202, body: envelopeOf(Delivery) },
  errors: ['webhook_not_found', 'delivery_not_found'],
  uses: { services: ['delivery-queue'] },
})
