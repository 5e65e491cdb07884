import type { WaitingDelivery } from '../../../shared/delivery/store-ports.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { type Delivery, type DueDelivery, isWaiting } from '../../../shared/domain/delivery.ts'
import { type DueItems, dueItems } from './due-items.ts'
import { sortedLists } from './sorted-lists.ts'

/** A delivery as it is stored. The version changes with every write. */
export type StoredDelivery = { delivery: Delivery; version: number }

/** As in `shared/store/keys/webhooks.ts`. */
const DUE_PARTITIONS = 16

/** Bytes of an item's key and attributes besides its body, and of each attempt. Other items have a key only. */
const ITEM_BYTES = 450
const ATTEMPT_BYTES = 90
export const KEY_ITEM_BYTES = 150

/** Deliveries in memory, with their places among due, waiting and unattempted deliveries. Nothing takes time. */
export function deliveryPlaces(onEnd: (delivery: Delivery) => void) {
  const stored = new Map<string, StoredDelivery>()
  const due = Array.from({ length: DUE_PARTITIONS }, dueItems)
  const unattempted = sortedLists()
  const waiting = sortedLists()
  const partitionOf = (id: string): DueItems =>
    due[Number.parseInt(id.slice(-2), 16) % DUE_PARTITIONS] as DueItems

  /** Adds deliveries, of which those without an attempt wait for earlier ones of their record. Returns the sizes of the items. */
  function create(clinic: ClinicId, created: readonly Delivery[]): number[] {
    for (const delivery of created) {
      const { id, sequence, attempts } = delivery
      stored.set(id, { delivery, version: 1 })
      if (delivery.dueAt !== null) partitionOf(id).add(dueOf(clinic, delivery, delivery.dueAt))
      if (attempts.length === 0) unattempted.add(recordKey(delivery), { at: sequence, id })
    }
    return created.flatMap((delivery) => [sizeOf(delivery), KEY_ITEM_BYTES, KEY_ITEM_BYTES])
  }

  /** Replaces the state of a delivery, and its places. */
  function write(clinic: ClinicId, item: StoredDelivery, after: Delivery): void {
    const before = item.delivery
    // Nothing reads the body of a delivery that has ended.
    item.delivery = after.status === 'pending' ? after : { ...after, body: '' }
    item.version++
    const { id, webhook } = after
    if (before.dueAt !== after.dueAt) {
      if (before.dueAt !== null) partitionOf(id).remove(dueOf(clinic, before, before.dueAt))
      if (after.dueAt !== null) partitionOf(id).add(dueOf(clinic, after, after.dueAt))
    }
    if (isWaiting(after) && !isWaiting(before)) waiting.add(webhook, { at: after.createdAt, id })
    if (isWaiting(before) && !isWaiting(after)) waiting.remove(webhook, id)
    if (isFirstDone(before, after)) unattempted.remove(recordKey(after), id)
    if (after.status !== 'pending') onEnd(after)
  }

  return {
    create,
    write,
    get: (id: string): StoredDelivery | undefined => stored.get(id),
    forget: (id: string): void => void stored.delete(id),
    due,
    removeDue: (item: DueDelivery): void => partitionOf(item.id).remove(item),
    waiting: (webhook: string, limit: number, after?: string): WaitingDelivery[] => {
      const last = after === undefined ? undefined : stored.get(after)?.delivery
      const ids = waiting.first(webhook, limit, last && { at: last.createdAt, id: last.id })
      return ids.map((id) => ({ id, waitsFor: stored.get(id)?.delivery.waiting?.for as 'turn' | 'success' }))
    },
    removeWaiting: waiting.remove,
    /** The deliveries of the same record without an attempt: the first before this one, and the next. */
    earlier: (delivery: Delivery): string | null =>
      unattempted.firstBefore(recordKey(delivery), delivery.sequence),
    next: (delivery: Delivery): string | null =>
      unattempted.firstAfter(recordKey(delivery), delivery.sequence),
  }
}

const recordKey = ({ webhook, record }: Delivery): string => `${webhook}#${record}`

const dueOf = (clinic: ClinicId, { id, webhook }: Delivery, at: number): DueDelivery => ({
  clinic,
  id,
  webhook,
  at,
})

/** Bytes of a delivery's item. */
export const sizeOf = ({ body, attempts }: Delivery): number =>
  ITEM_BYTES + body.length + ATTEMPT_BYTES * attempts.length

/** After its first attempt, or when it has ended without one, later deliveries of the record no longer wait for it. */
const isFirstDone = (before: Delivery, after: Delivery): boolean =>
  before.attempts.length === 0 && (after.attempts.length > 0 || after.status !== 'pending')

/** The sizes of the items that a change writes: the delivery, and its places. */
export function writtenSizes(before: Delivery, after: Delivery): number[] {
  const hasMoved = before.dueAt !== after.dueAt
  const places =
    (hasMoved && before.dueAt !== null ? 1 : 0) +
    (hasMoved && after.dueAt !== null ? 1 : 0) +
    (isWaiting(before) || isWaiting(after) ? Number(before.waiting?.for !== after.waiting?.for) : 0) +
    (isFirstDone(before, after) ? 1 : 0)
  return [sizeOf(after), ...Array<number>(places).fill(KEY_ITEM_BYTES)]
}
