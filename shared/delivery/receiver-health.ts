import type { DeliveryContext, DeliveryReference } from '../domain/delivery.ts'
import type { AttemptHealth, Slot, WebhookHealth } from '../domain/webhook-health.ts'
import type { HealthRecords } from './store-ports.ts'

/** Takes one of the slots. Null if others were faster. */
export async function takeSlot(
  records: HealthRecords,
  { health }: DeliveryContext,
  { clinic, webhook }: DeliveryReference,
  slots: readonly number[],
  until: number,
): Promise<Slot | null> {
  for (const number of slots)
    if (await records.takeSlot(clinic, webhook, health, { number, until })) return { number, until }
  return null
}

/** Records what an attempt shows of its receiver, unless it is as healthy as before. Returns the health afterwards. */
export async function recordHealth(
  records: HealthRecords,
  { clinic, webhook }: DeliveryReference,
  health: WebhookHealth,
  attempt: AttemptHealth,
): Promise<WebhookHealth | null> {
  const isAsBefore =
    attempt.result === 'success' &&
    attempt.slot === null &&
    health.failingSince === null &&
    !attempt.isSlow &&
    health.slowAttempts === 0
  return isAsBefore ? health : records.record(clinic, webhook, attempt)
}
