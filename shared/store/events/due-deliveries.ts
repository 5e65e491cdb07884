import { DUE_DELIVERY_PARTITIONS, parseDueDeliveryKey } from '../keys/webhooks.ts'
import { readDue } from '../table/read-due.ts'
import type { Table } from '../table/table.ts'
import { deliveryStore } from './deliveries.ts'

/** Deliveries as the sweep reads and changes them. */
export function dueDeliveries({ table }: { table: Table }) {
  const { find, change, removeDue } = deliveryStore({ table })

  /** The deliveries that are due by `until`, in batches of at most `size` from each partition, earliest first. */
  const dueBatches = (until: number, size: number, partitions = DUE_DELIVERY_PARTITIONS) =>
    readDue(table, partitions, parseDueDeliveryKey, { until, size })

  return { find, change, dueBatches, removeDue }
}
