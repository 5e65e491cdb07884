import type { DueDelivery } from '../../domain/webhooks/delivery.ts'
import { dueUntil } from '../keys/due.ts'
import { DUE_DELIVERY_PARTITIONS, parseDueDeliveryKey } from '../keys/webhooks.ts'
import { partitionBatches } from '../table/partition-batches.ts'
import type { Table } from '../table/table.ts'
import { deliveryStore } from './deliveries.ts'

/** Deliveries as the sweep reads and changes them. */
export function dueDeliveries({ table }: { table: Table }) {
  const { find, change, removeDue } = deliveryStore({ table })

  /** The deliveries that are due by `until`, in batches of at most `size` from each partition, earliest first. */
  async function* dueBatches(
    until: number,
    size: number,
    partitions = DUE_DELIVERY_PARTITIONS,
  ): AsyncGenerator<DueDelivery[]> {
    for await (const items of partitionBatches(table, partitions, { to: dueUntil(until), size }))
      yield items.map(parseDueDeliveryKey).sort((a, b) => a.at - b.at)
  }

  return { find, change, dueBatches, removeDue }
}
