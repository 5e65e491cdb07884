import type { ClinicId } from '../../domain/clinic.ts'
import type { Claim } from '../../domain/messages/message.ts'
import type { Delivery, DeliveryContext } from '../../domain/webhooks/delivery.ts'
import { clinicKey } from '../keys/clinics.ts'
import { type Key, MAX_SORTABLE_NUMBER } from '../keys/key.ts'
import {
  deliveryKey,
  firstAttemptKey,
  firstAttemptsPartition,
  parseDeliveryKey,
  waitingDeliveriesPartition,
  waitingDeliveryKey,
  webhookHealthKey,
  webhookKey,
} from '../keys/webhooks.ts'
import { ConditionFailed } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import { deliveryStore } from './deliveries.ts'
import { decodeDelivery, decodeHealth, decodeVersion, decodeWebhook } from './items.ts'
import { decodeFirstAttempt, decodeWaiting } from './waiting-items.ts'

/** Deliveries as the consumer of the delivery queues reads, claims and changes them. */
export function deliveryAttempts({ table }: { table: Table }) {
  const { find, change } = deliveryStore({ table })

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
      version: decodeVersion(deliveryItem),
      webhook: webhookItem ? decodeWebhook(webhookItem) : null,
      health: decodeHealth(healthItem),
      isPaused: clinicItem?.pausedAt !== undefined,
    }
  }

  /** The id of the record's first delivery before this one that has had no attempt; null if there is none. */
  const earlierUnattempted = (clinic: ClinicId, delivery: Delivery): Promise<string | null> =>
    unattempted(clinic, delivery, 0, delivery.sequence - 1)

  /** The id of the delivery of the record's next event that has had no attempt; null if there is none. */
  const nextUnattempted = (clinic: ClinicId, delivery: Delivery): Promise<string | null> =>
    unattempted(clinic, delivery, delivery.sequence + 1, MAX_SORTABLE_NUMBER)

  /** The delivery of the first of these events of the record that has had no attempt. */
  async function unattempted(
    clinic: ClinicId,
    { webhook, record }: Delivery,
    first: number,
    last: number,
  ): Promise<string | null> {
    if (last < first) return null
    const [row] = await table.query({
      pk: firstAttemptsPartition(clinic, webhook),
      from: firstAttemptKey(clinic, webhook, record, first).sk,
      to: firstAttemptKey(clinic, webhook, record, last).sk,
      limit: 1,
    })
    return row ? decodeFirstAttempt(row) : null
  }

  /** Claims an attempt; of concurrent claims one succeeds. False if the delivery has changed since it was read. */
  async function claim(
    clinic: ClinicId,
    { delivery, version }: Pick<DeliveryContext, 'delivery' | 'version'>,
    newClaim: Claim,
  ): Promise<boolean> {
    const { webhook, id } = delivery
    try {
      await table.update(deliveryKey(clinic, webhook, id), {
        UpdateExpression: 'SET claim = :claim ADD v :one',
        ConditionExpression: 'v = :read',
        ExpressionAttributeValues: { ':claim': newClaim, ':one': 1, ':read': version },
      })
      return true
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      // The update may have succeeded earlier with its response lost.
      return (await find(clinic, webhook, id))?.claim?.token === newClaim.token
    }
  }

  /** The deliveries that wait for their endpoint, oldest first, at most `limit`; those after the id `after`, if it is set. */
  async function waiting(clinic: ClinicId, webhook: string, limit: number, after?: string) {
    const pk = waitingDeliveriesPartition(clinic, webhook)
    // The range includes its ends.
    const rows = await table.query({ pk, ...(after && { from: `${after}~` }), limit })
    return rows.map((row) => ({ id: parseDeliveryKey(row).id, waitsFor: decodeWaiting(row) }))
  }

  /** Removes what is left of a delivery that waited. */
  const removeWaiting = (clinic: ClinicId, webhook: string, id: string): Promise<void> =>
    table.transact([table.deleteWrite(waitingDeliveryKey(clinic, webhook, id))])

  return { readContext, earlierUnattempted, nextUnattempted, claim, change, waiting, removeWaiting }
}
