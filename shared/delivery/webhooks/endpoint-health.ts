import type { DeliveryReference } from '../../domain/webhooks/delivery.ts'
import {
  type AttemptHealth,
  type Permit,
  QUEUED_MS,
  type WebhookHealth,
} from '../../domain/webhooks/webhook-health.ts'
import type { HealthRecords } from '../store-ports.ts'

/**
 * Reserves the slow queue for a delivery, unless the endpoint may have several in it. False if the health has changed since it
 * was read.
 */
export const reserveQueue = async (
  records: HealthRecords,
  { clinic, webhook, delivery }: DeliveryReference,
  health: WebhookHealth,
  now: number,
): Promise<boolean> =>
  health.isResponding || records.recordQueued(clinic, webhook, health, { delivery, until: now + QUEUED_MS })

/** Takes one of the permits. Null if others were faster. */
export async function takePermit(
  records: HealthRecords,
  { clinic, webhook }: DeliveryReference,
  health: WebhookHealth,
  permits: readonly number[],
  until: number,
): Promise<Permit | null> {
  for (const number of permits)
    if (await records.takePermit(clinic, webhook, health, { number, until })) return { number, until }
  return null
}

/** Records what an attempt shows of its endpoint, unless it is as healthy as before. Returns the health afterwards. */
export async function recordHealth(
  records: HealthRecords,
  { clinic, webhook }: DeliveryReference,
  health: WebhookHealth,
  attempt: AttemptHealth,
): Promise<WebhookHealth | null> {
  const isAsBefore =
    attempt.result === 'success' &&
    attempt.permit === null &&
    health.failingSince === null &&
    !attempt.isSlow &&
    health.slowAttempts === 0
  return isAsBefore ? health : records.record(clinic, webhook, attempt)
}
