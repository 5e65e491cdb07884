import { isUuid } from '../../domain/uuid.ts'
import type { Event } from '../../domain/webhooks/event.ts'
import {
  decodeAnnouncedEvent,
  decodeCounter,
  decodeDelivery,
  decodeEvent,
  decodeHealth,
  decodeVersion,
  isExpired,
} from '../../store/events/items.ts'
import {
  announcedPartition,
  announcedRange,
  eventHeadKey,
  eventKey,
  eventsPartition,
  parseEventKey,
} from '../../store/keys/events.ts'
import { type Key, keyText } from '../../store/keys/key.ts'
import { recordKeyOf } from '../../store/keys/record-names.ts'
import {
  deliveriesPartition,
  dueDeliveryKey,
  webhookHealthKey,
  webhooksPartition,
} from '../../store/keys/webhooks.ts'
import type { Item } from '../../store/table/write-requests.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import { type Finding, findingOf, type Inspection } from './comparison/inspection.ts'
import { readable } from './comparison/readable.ts'
import type { Snapshot } from './comparison/snapshot.ts'

/** More events than are lost at a time: a restore leaves as many positions free. */
const MAX_LOST = 1_000_000

/** Events this close to their expiry may have been deleted in any order. */
const DAY_MS = 24 * 60 * 60 * 1000

const isEvent = (item: Item): boolean =>
  /^\d{10}$/.test(item.sk) && readable(() => [decodeEvent(item), isExpired(item, 0)]) !== null

const isAnnounced = (item: Item): boolean => readable(() => decodeAnnouncedEvent(item)) !== null

const isHealth = (item: Item | undefined) => item !== undefined && readable(() => decodeHealth(item)) !== null

const isDelivery = (item: Item): boolean =>
  isUuid(item.sk) && readable(() => [decodeDelivery(item), decodeVersion(item), isExpired(item, 0)]) !== null

/**
 * Verifies that events and deliveries can be read, that none is missing between two events, that the next event gets a free position
 * and a new sequence number, and that the sweep knows each pending delivery. One that cannot be read is lost, and keeps the others from
 * being read.
 */
export async function checkEvents({ table, clinic, count, examine, examineAll }: Inspection): Promise<void> {
  /** Those that can be read. Others are lost, and keep these from being read: a repair deletes them. */
  async function readableOf(items: readonly Item[], isRight: (item: Item) => boolean): Promise<Item[]> {
    const wrong = items.filter((item) => !isRight(item))
    await examineAll(wrong, async ({ pk, sk }, read) => {
      const item = await read.get({ pk, sk })
      if (!item || isRight(item)) return null
      const repair = () => read.write([table.deleteWrite({ pk, sk })])
      return findingOf('record_unreadable', item, repair, ', and is lost')
    })
    return items.filter(isRight)
  }
  /** A finding that an item which may have nothing but its key is missing, or cannot be read. */
  const absent = async (
    kind: 'delivery_unscheduled' | 'health_missing',
    subject: Key,
    key: Key,
    read: Snapshot,
  ): Promise<Finding | null> =>
    isHealth(await read.get(key))
      ? null
      : findingOf(kind, subject, () => read.write([table.putWrite({ ...key })]))

  /** Verifies that records count these events: otherwise they repeat sequence numbers, and endpoints ignore what they have had. */
  async function checkCounts(events: readonly Event[]): Promise<void> {
    const counted = new Map<string, { readonly key: Key; readonly sequence: number }>()
    for (const { event, record, sequence } of events.toSorted((a, b) => a.sequence - b.sequence)) {
      const key = recordKeyOf(clinic, event.slice(0, event.indexOf('.')), record)
      if (key) counted.set(keyText(key), { key, sequence })
    }
    const sequenceOf = (item: Item) => counted.get(keyText(item))?.sequence ?? 0
    const isBehind = (item: Item) => !(Number(item.ev ?? 0) >= sequenceOf(item))
    const records = await table.getMany([...counted.values()].map(({ key }) => key))
    await examineAll(records.filter(isBehind), async ({ pk, sk }, read) => {
      const item = await read.get({ pk, sk })
      if (!item || !isBehind(item)) return null
      const next = { ...item, ev: sequenceOf(item), v: Number(item.v) + 1 }
      return findingOf('event_count_wrong', item, () => read.write([table.putWrite(next)]))
    })
  }

  const announced = { pk: announcedPartition(clinic), ...announcedRange(clinic) }
  for await (const items of partitionPages(table, announced.pk, announced))
    await checkCounts((await readableOf(items, isAnnounced)).map(decodeAnnouncedEvent))
  let last = 0
  let before: Item | undefined
  for await (const items of partitionPages(table, eventsPartition(clinic))) {
    count('events', items.length)
    const events = await readableOf(items, isEvent)
    await checkCounts(events.map(decodeEvent))
    for (const item of events) {
      const [from, to] = [last + 1, parseEventKey(item) - 1]
      if (from <= to && to < from + MAX_LOST && before && !isExpired(before, table.now() + DAY_MS))
        await examine(async (read) =>
          (await read.get(eventKey(clinic, from)))
            ? null
            : findingOf('event_missing', item, null, `${from} to ${to}`),
        )
      last = to + 1
      before = item
    }
  }
  await examine(async (read) => {
    const key = eventHeadKey(clinic)
    const head = await read.get(key)
    const counter = readable(() => decodeCounter(head))
    if (counter && counter.n >= last) return null
    const next = { ...head, ...key, n: Math.max(last, counter?.n ?? 0), v: (Number(head?.v) || 0) + 1 }
    return findingOf('event_head_wrong', key, () => read.write([table.putWrite(next)]))
  })
  for await (const webhooks of partitionPages(table, webhooksPartition(clinic), { keysOnly: true }))
    for (const webhook of webhooks) {
      await examine((read) => absent('health_missing', webhook, webhookHealthKey(clinic, webhook.sk), read))
      const dueKey = ({ sk: id, dueAt }: Item) =>
        dueDeliveryKey({ clinic, webhook: webhook.sk, id, at: Number(dueAt) })
      for await (const items of partitionPages(table, deliveriesPartition(clinic, webhook.sk))) {
        count('deliveries', items.length)
        const due = (await readableOf(items, isDelivery)).filter(({ dueAt }) => dueAt !== null)
        const scheduled = new Set((await table.getMany(due.map(dueKey))).map(({ sk }) => sk))
        await examineAll(
          due.filter((item) => !scheduled.has(dueKey(item).sk)),
          async ({ pk, sk }, read) => {
            const item = await read.get({ pk, sk })
            if (!item || !isDelivery(item) || item.dueAt === null) return null
            return absent('delivery_unscheduled', item, dueKey(item), read)
          },
        )
      }
    }
}
