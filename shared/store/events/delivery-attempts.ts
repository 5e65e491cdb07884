import type { ClinicId } from '../../domain/clinic.ts'
import { type Delivery, isSuccess } from '../../domain/webhooks/delivery.ts'
import type { DeliveryContext } from '../../domain/webhooks/delivery-states.ts'
import { clinicKey } from '../keys/clinics.ts'
import type { Key } from '../keys/key.ts'
import { deliveryKey, webhookHealthKey, webhookKey } from '../keys/webhooks.ts'
import type { Table } from '../table/table.ts'
import { deliveryStore } from './deliveries.ts'
import { decodeDelivery, decodeHealth, decodeWebhook } from './items.ts'

/** Deliveries as the consumer of the delivery queues reads and changes them. */
export function deliveryAttempts({ table }: { table: Table }) {
  const { change, page } = deliveryStore({ table })

  /**
   * Reads a delivery, its webhook, the webhook's health and the clinic in one call. Null for an unknown delivery, and for any while a restored
   * table is to replace this one, from which it is then delivered.
   */
  async function readContext(clinic: ClinicId, webhook: string, id: string): Promise<DeliveryContext | null> {
    const keys = [
      deliveryKey(clinic, webhook, id),
      webhookKey(clinic, webhook),
      webhookHealthKey(clinic, webhook),
      clinicKey(clinic),
    ]
    const items = await table.getMany(keys)
    const itemAt = ({ pk, sk }: Key) => items.find((item) => item.pk === pk && item.sk === sk)
    const [deliveryItem, webhookItem, healthItem, clinicItem] = keys.map(itemAt)
    if (!deliveryItem || clinicItem?.replacement !== undefined) return null
    return {
      delivery: decodeDelivery(deliveryItem),
      webhook: webhookItem ? decodeWebhook(webhookItem) : null,
      health: decodeHealth(healthItem),
      isPaused: clinicItem?.pausedAt !== undefined,
    }
  }

  /** Whether one of the latest deliveries, as many as a page reads, has had a success that ended after `since`. */
  async function hasSucceeded(
    clinic: ClinicId,
    webhook: string,
    since: number,
    now: number,
  ): Promise<boolean> {
    const isProof = ({ attempts }: Delivery) =>
      attempts.some(({ at, status, latencyMs }) => isSuccess(status) && Date.parse(at) + latencyMs >= since)
    const found = await page(clinic, webhook, { limit: 1 }, now, isProof)
    return found !== null && found.items.length > 0
  }

  return { readContext, hasSucceeded, change }
}
