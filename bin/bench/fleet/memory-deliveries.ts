import type { Deliveries } from '../../../shared/delivery/store-ports.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { Delivery, DueDelivery } from '../../../shared/domain/delivery.ts'
import type { Webhook } from '../../../shared/domain/webhook.ts'
import type { WebhookHealth } from '../../../shared/domain/webhook-health.ts'
import { deliveryPlaces, KEY_ITEM_BYTES, sizeOf, writtenSizes } from './delivery-places.ts'
import type { DueItems } from './due-items.ts'
import type { SimulatedTable } from './simulated-table.ts'

type Surroundings = {
  readonly webhook: (id: string) => Webhook | null
  readonly health: (id: string) => WebhookHealth
  readonly onEnd: (delivery: Delivery) => void
}

/** As in `shared/store/table/retry-on-conflict.ts`. */
const FIRST_BACKOFF_MS = 25
const MAX_BACKOFF_MS = 800

const READ_UNIT_BYTES = 4096

/**
 * Deliveries in memory, with the latencies of the table and the conditions of `shared/store/events`: writes are conditional
 * on the version that was read, and take effect at the end of their time.
 */
export function memoryDeliveries(table: SimulatedTable, { webhook: webhookOf, health, onEnd }: Surroundings) {
  const places = deliveryPlaces(onEnd)
  const peek = (id: string): Delivery | null => places.get(id)?.delivery ?? null

  async function change(
    clinic: ClinicId,
    _webhook: string,
    id: string,
    apply: (before: Delivery) => Delivery | null,
  ): Promise<Delivery | null> {
    for (let ceiling = FIRST_BACKOFF_MS; ; ceiling = Math.min(MAX_BACKOFF_MS, 2 * ceiling)) {
      await table.read()
      const item = places.get(id)
      if (!item) return null
      const { delivery: before, version } = item
      const after = apply(before)
      if (!after) return before
      await table.transact(writtenSizes(before, after))
      if (item.version === version) {
        places.write(clinic, item, after)
        return after
      }
      await table.backOff(ceiling)
    }
  }

  const dueBatches = (until: number, size: number, partitions: readonly DueItems[] = places.due) =>
    batchesOf(table, partitions, until, size)

  const ports: Deliveries = {
    find: async (_clinic, _webhook, id) => {
      await table.read()
      return peek(id)
    },
    readContext: async (_clinic, webhook, id) => {
      await table.read(4)
      const item = places.get(id)
      return item ? { ...item, webhook: webhookOf(webhook), health: health(webhook), isPaused: false } : null
    },
    earlierUnattempted: async (_clinic, delivery) => {
      if (delivery.sequence <= 1) return null
      await table.read()
      return places.earlier(delivery)
    },
    nextUnattempted: async (_clinic, delivery) => {
      await table.read()
      return places.next(delivery)
    },
    claim: async (_clinic, { delivery, version }, claim) => {
      await table.write(sizeOf(delivery))
      const item = places.get(delivery.id)
      if (item?.version === version) {
        item.delivery = { ...item.delivery, claim }
        item.version++
        return true
      }
      await table.read()
      return peek(delivery.id)?.claim?.token === claim.token
    },
    change,
    dueBatches,
    removeDue: async (item) => {
      await table.write()
      places.removeDue(item)
    },
    waiting: async (_clinic, webhook, limit, after) => {
      await table.read()
      return places.waiting(webhook, limit, after)
    },
    removeWaiting: async (_clinic, webhook, id) => {
      await table.write()
      places.removeWaiting(webhook, id)
    },
  }

  /** The due items until then, earliest first; at most `limit` of each partition. */
  const dueUntil = (until: number, limit: number): DueDelivery[] =>
    places.due.flatMap((partition) => partition.query(until, null, limit)).sort((a, b) => a.at - b.at)

  /** The ports of a sweep that reads a part of the partitions. */
  function partOf(part: number, parts: number): Deliveries {
    const partitions = places.due.filter((_, index) => index % parts === part)
    return { ...ports, dueBatches: (until, size) => dueBatches(until, size, partitions) }
  }

  return { ...ports, partOf, create: places.create, forget: places.forget, peek, dueUntil }
}

/** The items that are due by `until`, in batches of at most `size` from each partition, earliest first. */
async function* batchesOf(
  table: SimulatedTable,
  partitions: readonly DueItems[],
  until: number,
  size: number,
): AsyncGenerator<DueDelivery[]> {
  let open = partitions.map((partition) => ({ partition, after: null as DueDelivery | null }))
  while (open.length > 0) {
    const reads = await Promise.all(
      open.map(async ({ partition, after }) => {
        await table.read(Math.ceil((size * KEY_ITEM_BYTES) / READ_UNIT_BYTES))
        return { partition, items: partition.query(until, after, size) }
      }),
    )
    yield reads.flatMap(({ items }) => items).sort((a, b) => a.at - b.at)
    open = reads.flatMap(({ partition, items }) =>
      items.length === size ? [{ partition, after: items.at(-1) as DueDelivery }] : [],
    )
  }
}
