import type { DueDelivery } from '../../domain/delivery.ts'
import { dueUntil } from '../keys/due.ts'
import { DUE_DELIVERY_PARTITIONS, dueDeliveryKey, parseDueDeliveryKey } from '../keys/webhooks.ts'
import type { Table } from '../table/table.ts'
import { deliveryStore } from './deliveries.ts'

/** Deliveries as the sweep reads and changes them. */
export function dueDeliveries({ table }: { table: Table }) {
  const { find, change } = deliveryStore({ table })

  /** At most `limit` deliveries of each partition that are due by `now`, earliest first. */
  async function due(now: number, limit: number): Promise<DueDelivery[]> {
    const reads = DUE_DELIVERY_PARTITIONS.map((pk) => table.query({ pk, to: dueUntil(now), limit }))
    return (await Promise.all(reads))
      .flat()
      .map(parseDueDeliveryKey)
      .sort((a, b) => a.at - b.at)
  }

  /** Removes the due item of a delivery that has ended or is due at another time. */
  const removeDue = (item: DueDelivery): Promise<void> => table.deleteMany([dueDeliveryKey(item)])

  return { find, change, due, removeDue }
}
