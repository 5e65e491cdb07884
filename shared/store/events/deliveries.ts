import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../domain/clinic.ts'
import type { Delivery, DueDelivery } from '../../domain/webhooks/delivery.ts'
import { isKnownEvent } from '../../domain/webhooks/event.ts'
import type { Key } from '../keys/key.ts'
import { deliveriesPartition, deliveryKey, dueDeliveryKey, isDeliveryCursor } from '../keys/webhooks.ts'
import { Changeset } from '../table/changeset.ts'
import { type RequestedWrite, UNREQUESTED } from '../table/idempotency.ts'
import { toUpdateParts } from '../table/item-update.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import type { Item, UpdateParts } from '../table/write-requests.ts'
import type { LogPage, LogRequest } from './events.ts'
import { decodeDelivery, decodeVersion, encodeDelivery, isExpired } from './items.ts'

/** The most rows that one request reads to find matching deliveries. The next page continues from there. */
const MAX_SCANNED_ROWS = 2000
/** The rows that one query of such a request reads. */
const FILTER_BATCH_SIZE = 200

/** Deliveries of events to webhooks. */
export function deliveryStore({ table }: { table: Table }) {
  /** Creates one delivery for a request. @throws RequestCompleted */
  const create = (clinic: ClinicId, delivery: Delivery, write: RequestedWrite<Delivery>): Promise<void> =>
    retryOnConflict(async () => {
      await write.requireNew()
      const changes = new Changeset(table, clinic)
      addDelivery(changes, delivery)
      write.store(changes, delivery, '')
      await changes.commit()
    })

  async function find(clinic: ClinicId, webhook: string, id: string): Promise<Delivery | null> {
    const item = await table.get(deliveryKey(clinic, webhook, id))
    return item ? decodeDelivery(item) : null
  }

  /**
   * Changes a delivery and its due time. `apply` returns the new state, or null to leave the delivery unchanged. Returns
   * the state afterwards, or null for an unknown delivery.
   * @throws RequestCompleted
   */
  const change = (
    clinic: ClinicId,
    webhook: string,
    id: string,
    apply: (before: Delivery) => Delivery | null,
    write: RequestedWrite<Delivery> = UNREQUESTED,
  ): Promise<Delivery | null> =>
    retryOnConflict(async () => {
      const [item] = await Promise.all([table.get(deliveryKey(clinic, webhook, id)), write.requireNew()])
      if (!item) return null
      const before = decodeDelivery(item)
      const after = apply(before)
      if (!after) return before
      const version = decodeVersion(item)
      const isUnchanged = isDeepStrictEqual(before, after)
      if (write === UNREQUESTED && !isUnchanged && before.dueAt === after.dueAt) {
        await replace(table, encodeDelivery(clinic, after, version), version)
        return after
      }
      const changes = new Changeset(table, clinic)
      if (!isUnchanged) {
        changes.put(encodeDelivery(clinic, after, version + 1), { version })
        changes.move(dueKeyOf(clinic, before), dueKeyOf(clinic, after))
      }
      write.store(changes, after, '')
      await changes.commit()
      return after
    })

  /** Removes a due item unless its delivery is due at that time, as it can be by now. */
  const removeDue = (due: DueDelivery): Promise<void> =>
    retryOnConflict(async () => {
      const key = deliveryKey(due.clinic, due.webhook, due.id)
      const item = await table.get(key)
      if (item && decodeDelivery(item).dueAt === due.at) return
      const changes = new Changeset(table, due.clinic)
      changes.remove(dueDeliveryKey(due))
      changes.requireVersion(key, item ? decodeVersion(item) : null)
      await changes.commit()
    })

  /** Deliveries to one webhook, newest first; those that match `isWanted` if it is set, else those of known events. Null for a malformed cursor. */
  async function page(
    clinic: ClinicId,
    webhook: string,
    { after, limit }: LogRequest,
    now: number,
    isWanted?: (delivery: Delivery) => boolean,
  ): Promise<LogPage<Delivery> | null> {
    if (after !== undefined && !isDeliveryCursor(after)) return null
    const pk = deliveriesPartition(clinic, webhook)
    const items: Delivery[] = []
    let last = after
    for (let scanned = 0; scanned < MAX_SCANNED_ROWS; ) {
      // The cursor's own row, and one more than requested to see whether there is another page.
      const maxRows = isWanted === undefined ? limit - items.length + 2 : FILTER_BATCH_SIZE
      const rows = await table.query({ pk, to: last, descending: true, limit: maxRows })
      for (const row of rows) {
        if (row.sk === last) continue
        const delivery = decodeDelivery(row)
        const matches = !isExpired(row, now) && (isWanted?.(delivery) ?? isKnownEvent(delivery.event))
        // The cursor is not `last`, which can be a delivery that is left out: its id would show that it exists, and when.
        if (matches && items.length === limit)
          return { items, nextAfter: items.at(-1)?.id ?? null, hasMore: true }
        last = delivery.id
        if (matches) items.push(delivery)
      }
      if (rows.length < maxRows) return { items, nextAfter: null, hasMore: false }
      scanned += rows.length
    }
    return { items, nextAfter: last ?? null, hasMore: true }
  }

  return { create, find, change, removeDue, page }
}

/** Replaces an item that does not move its due item: a transaction would take twice the write units. */
async function replace(table: Table, item: Item, expectedVersion: number): Promise<void> {
  const { pk, sk, v: _, ...attributes } = item
  const set = new Map(Object.entries(attributes))
  const parts = toUpdateParts({ key: { pk, sk }, add: new Map(), set, expectedVersion })
  await table.update({ pk, sk }, parts as UpdateParts)
}

/** Adds a delivery with its due item. */
export function addDelivery(changes: Changeset, delivery: Delivery): void {
  changes.put(encodeDelivery(changes.clinic, delivery, 1), 'new')
  changes.move(null, dueKeyOf(changes.clinic, delivery))
}

const dueKeyOf = (clinic: ClinicId, { id, webhook, dueAt }: Delivery): Key | null =>
  dueAt === null ? null : dueDeliveryKey({ clinic, webhook, id, at: dueAt })
