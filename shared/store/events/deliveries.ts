/** Deliveries of events to webhooks: made, claimed, noted, listed. */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../domain/clinic.ts'
import { type Delivery, RETENTION_SECONDS } from '../../domain/delivery.ts'
import type { Webhook, WebhookHealth } from '../../domain/webhook.ts'
import { dueUntil } from '../keys/due.ts'
import { type Key, TTL } from '../keys/key.ts'
import {
  DUE_DELIVERY_PARTITIONS,
  type DueDelivery,
  deliveriesPartition,
  deliveryKey,
  dueDeliveryKey,
  firstAttemptKey,
  firstAttemptsPartition,
  parseDueDeliveryKey,
  webhookHealthKey,
  webhookKey,
} from '../keys/webhooks.ts'
import { Changeset } from '../table/changeset.ts'
import type { IdempotencyGuard, ResponseToStore, StoredResponse } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retry-on-conflict.ts'
import { ConditionFailed, type Item, type Table } from '../table/table.ts'
import type { CursorPage, CursorRequest } from './events.ts'
import { toHealth, toWebhook } from './webhooks.ts'

/** A delivery with all that its attempt goes by. */
export type DeliveryContext = {
  readonly delivery: Delivery
  readonly version: number
  /** Null when it was deleted since. */
  readonly webhook: Webhook | null
  readonly health: WebhookHealth
}

export function deliveryStore({ table }: { table: Table }) {
  /** Adds a new delivery; `isFirst` ones wait for the first attempts of their record's earlier events. */
  function addDelivery(changes: Changeset, delivery: Delivery, { isFirst }: { isFirst: boolean }): void {
    const { clinic } = changes
    const { id, webhook, record, sequence } = delivery
    changes.put(toItem(deliveryKey(clinic, webhook, id), delivery, 1), 'new')
    const seconds = Math.floor(delivery.createdAt / 1000) + RETENTION_SECONDS
    if (isFirst) changes.put({ ...firstAttemptKey(clinic, webhook, record, sequence), i: id, [TTL]: seconds })
    const due = dueKeyOf(clinic, delivery)
    if (due) changes.put(due)
  }

  /** Makes one delivery with the answer to keep; the kept answer when the same request came before. */
  async function create(
    clinic: ClinicId,
    delivery: Delivery,
    { idempotency, status, response }: { idempotency: IdempotencyGuard; status: number; response: unknown },
  ): Promise<StoredResponse | null> {
    return retryOnConflict(async () => {
      const storedResponse = await idempotency.find()
      if (storedResponse) return storedResponse
      const changes = new Changeset(table, clinic)
      addDelivery(changes, delivery, { isFirst: false })
      idempotency.store(changes, status, response, '')
      await changes.commit()
      return null
    })
  }

  /** Null when there is no such delivery. */
  async function read(clinic: ClinicId, webhook: string, id: string): Promise<DeliveryContext | null> {
    const keys = [
      deliveryKey(clinic, webhook, id),
      webhookKey(clinic, webhook),
      webhookHealthKey(clinic, webhook),
    ]
    const items = await table.getMany(keys)
    const at = ({ pk, sk }: Key) => items.find((item) => item.pk === pk && item.sk === sk)
    const [delivery, endpoint, health] = keys.map(at)
    if (!delivery) return null
    return {
      delivery: toDelivery(webhook, delivery),
      version: delivery.v as number,
      webhook: endpoint ? toWebhook(endpoint) : null,
      health: toHealth(health),
    }
  }

  async function find(clinic: ClinicId, webhook: string, id: string): Promise<Delivery | null> {
    const item = await table.get(deliveryKey(clinic, webhook, id))
    return item ? toDelivery(webhook, item) : null
  }

  /** Deliveries of the record's earlier events that were not attempted yet, in their order. */
  async function unattemptedBefore(
    clinic: ClinicId,
    { webhook, record, sequence }: Delivery,
  ): Promise<string[]> {
    const rows = await table.query({
      pk: firstAttemptsPartition(clinic, webhook),
      from: firstAttemptKey(clinic, webhook, record, 0).sk,
      to: firstAttemptKey(clinic, webhook, record, sequence).sk,
      limit: 1000,
    })
    const own = firstAttemptKey(clinic, webhook, record, sequence).sk
    return rows.filter(({ sk }) => sk !== own).map((row) => row.i as string)
  }

  /** Claims an attempt: of any number of consumers one gets it. False when it has changed since it was read. */
  async function claim(
    clinic: ClinicId,
    { delivery, version }: Pick<DeliveryContext, 'delivery' | 'version'>,
    wanted: NonNullable<Delivery['claim']>,
  ): Promise<boolean> {
    const { webhook, id } = delivery
    try {
      await table.update(deliveryKey(clinic, webhook, id), {
        UpdateExpression: 'SET claim = :claim ADD v :one',
        ConditionExpression: 'v = :read',
        ExpressionAttributeValues: { ':claim': wanted, ':one': 1, ':read': version },
      })
      return true
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      // Perhaps it was ourselves, and only the reply was lost.
      return (await find(clinic, webhook, id))?.claim?.token === wanted.token
    }
  }

  /**
   * Changes a delivery, with its place among what is due; once it was attempted or given up, later ones of its record
   * need not wait for it. Null from `to` leaves it as it is.
   */
  async function change(
    clinic: ClinicId,
    webhook: string,
    id: string,
    apply: (before: Delivery) => Delivery | null,
  ): Promise<Delivery | null> {
    return retryOnConflict(async () => {
      const item = await table.get(deliveryKey(clinic, webhook, id))
      if (!item) return null
      const before = toDelivery(webhook, item)
      const after = apply(before)
      if (!after) return before
      await buildChangeset(clinic, before, after, item.v as number).commit()
      return after
    })
  }

  /** The same with the answer to keep; the kept answer when the same request came before. */
  async function changeIdempotently(
    clinic: ClinicId,
    webhook: string,
    id: string,
    apply: (before: Delivery) => Delivery | null,
    { idempotency, status, response }: ResponseToStore<Delivery>,
  ): Promise<StoredResponse | Delivery | null> {
    return retryOnConflict(async () => {
      const [storedResponse, item] = await Promise.all([
        idempotency.find(),
        table.get(deliveryKey(clinic, webhook, id)),
      ])
      if (storedResponse || !item) return storedResponse
      const before = toDelivery(webhook, item)
      const after = apply(before)
      if (!after) return null
      const changes = buildChangeset(clinic, before, after, item.v as number)
      idempotency.store(changes, status, response(after), '')
      await changes.commit()
      return after
    })
  }

  function buildChangeset(clinic: ClinicId, before: Delivery, after: Delivery, version: number): Changeset {
    const changes = new Changeset(table, clinic)
    if (isDeepStrictEqual(before, after)) return changes
    const { webhook, id, record, sequence } = after
    changes.put(toItem(deliveryKey(clinic, webhook, id), after, version + 1), { version })
    changes.move(dueKeyOf(clinic, before), dueKeyOf(clinic, after))
    const isFirstDone =
      before.attempts.length === 0 && (after.attempts.length > 0 || after.status !== 'pending')
    if (isFirstDone) changes.remove(firstAttemptKey(clinic, webhook, record, sequence))
    return changes
  }

  /** To one endpoint, newest first. Null for a cursor that is none. */
  async function page(
    clinic: ClinicId,
    webhook: string,
    { after, limit }: CursorRequest,
    now: number,
  ): Promise<CursorPage<Delivery> | null> {
    if (after !== undefined && !/^[0-9a-f-]{36}$/.test(after)) return null
    const rows = await table.query({
      pk: deliveriesPartition(clinic, webhook),
      to: after,
      descending: true,
      limit: limit + (after === undefined ? 1 : 2),
    })
    const later = rows.filter((row) => row.sk !== after && (row[TTL] as number) > now / 1000)
    const items = later.slice(0, limit).map((row) => toDelivery(webhook, row))
    return { items, nextAfter: items.at(-1)?.id ?? after ?? null, hasMore: later.length > limit }
  }

  /** What is due by now, soonest first, at most `limit` of each partition. */
  async function due(now: number, limit: number): Promise<DueDelivery[]> {
    const reads = DUE_DELIVERY_PARTITIONS.map((pk) => table.query({ pk, to: dueUntil(now), limit }))
    return (await Promise.all(reads))
      .flat()
      .map(parseDueDeliveryKey)
      .sort((a, b) => a.at - b.at)
  }

  /** Takes a due item away whose delivery is done, or due at another time. */
  const removeDue = (item: DueDelivery): Promise<void> => table.deleteMany([dueDeliveryKey(item)])

  return {
    addDelivery,
    create,
    read,
    find,
    unattemptedBefore,
    claim,
    change,
    changeIdempotently,
    page,
    due,
    removeDue,
  }
}

/** Where a delivery stands among what is due. */
const dueKeyOf = (clinic: ClinicId, { id, webhook, dueAt }: Delivery): Key | null =>
  dueAt === null ? null : dueDeliveryKey({ clinic, webhook, id, at: dueAt })

const toItem = (key: Key, { id: _, webhook: __, ...delivery }: Delivery, version: number): Item => ({
  ...key,
  ...delivery,
  v: version,
  [TTL]: Math.floor(delivery.createdAt / 1000) + RETENTION_SECONDS,
})

function toDelivery(webhook: string, { pk: _, sk, v: __, [TTL]: ___, ...delivery }: Item): Delivery {
  return { id: sk, webhook, ...(delivery as Omit<Delivery, 'id' | 'webhook'>) }
}
