/**
 * Fan-out of events. A record's own transaction announces its event, so no event is lost and none exists without its
 * change. One further transaction moves announced events to their positions and creates their deliveries, so a crash
 * leaves all of it done or none of it.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import { type DeliveryReference, newDelivery } from '../../domain/webhooks/delivery.ts'
import type { Event } from '../../domain/webhooks/event.ts'
import { isSubscribedTo } from '../../domain/webhooks/webhook.ts'
import { clinicStore } from '../clinics.ts'
import {
  ALL_ANNOUNCED_PARTITIONS,
  announcedKey,
  announcedPartition,
  announcedRange,
  announcedRecordEnd,
  eventHeadKey,
  parseAnnouncedKey,
} from '../keys/events.ts'
import { Changeset } from '../table/changeset.ts'
import { ifConditionHolds } from '../table/errors.ts'
import { retryOnConflict } from '../table/retries.ts'
import { MAX_TRANSACTION_ITEMS, type Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import { addDelivery } from './deliveries.ts'
import { decodeAnnouncedEvent, decodeCounter, encodeEvent } from './items.ts'
import { webhookStore } from './webhooks.ts'

/** Announced events read for one transaction: about twice what it can hold, since the next one reads the rest again. */
const MAX_EVENTS_PER_READ = 100

/** Announced events that are read at a time to find the clinics that they belong to. */
const EVENTS_PER_SEARCH = 100

/** Transactions for one clinic: a backlog must not hold up other clinics. */
const MAX_TRANSACTIONS = 20

/** A delivery and its due item. */
const DELIVERY_ITEMS = 2

/** More than a clinic has in the 35 days that a table can be restored to. */
const SKIPPED_POSITIONS = 10_000_000

type FanOutPlatform = {
  readonly table: Table
  readonly now: () => number
  readonly newId: () => string
}

type AnnouncedSearch = {
  readonly partitions?: readonly string[]
  /** Called with the time of each event that the search reads, in milliseconds since the epoch. */
  readonly onRead?: (announcedAt: number) => void
}

export function eventFanOut({ table, now, newId }: FanOutPlatform) {
  const webhooks = webhookStore({ table })
  const clinics = clinicStore({ table })

  /**
   * Moves a clinic's announced events to their positions and creates a delivery for each subscribed webhook. Calls `push`
   * with the new deliveries after each transaction; if it fails, the sweep queues them later. Returns true when it ended
   * after {@link MAX_TRANSACTIONS}, so that there may be more events.
   */
  async function fanOut(
    clinic: ClinicId,
    push: (created: DeliveryReference[]) => Promise<void>,
  ): Promise<boolean> {
    for (let count = 0; count < MAX_TRANSACTIONS; count++) {
      const created = await retryOnConflict(() => fanOutBatch(clinic))
      if (created === null) return false
      if (created.length > 0) await push(created)
    }
    return true
  }

  /** Writes one transaction with as many events as it can hold. Null if no events are announced. */
  async function fanOutBatch(clinic: ClinicId): Promise<DeliveryReference[] | null> {
    // The head is read first: the transaction fails if another one assigns positions after that.
    const headItem = await table.get(eventHeadKey(clinic))
    const events = await readAnnounced(table, clinic)
    if (events.length === 0) return null
    const [endpoints, settings] = await Promise.all([webhooks.list(clinic), clinics.find(clinic)])
    // The events stay announced, so the first sweep after the pause finds them.
    if (settings?.pausedAt !== undefined) return null
    const payloadClinic = { id: clinic, timezone: settings?.timezone ?? 'UTC' }
    const changes = new Changeset(table, clinic)
    const created: DeliveryReference[] = []
    const head = decodeCounter(headItem)
    const first = head.n + 1
    let next = first
    for (const event of events) {
      const subscribed = endpoints.filter((endpoint) => isSubscribedTo(endpoint, event.event))
      if (changes.size + 2 + DELIVERY_ITEMS * subscribed.length > MAX_TRANSACTION_ITEMS - 1 && next > first)
        break
      changes.put(encodeEvent(clinic, next, event, now()), 'new')
      changes.remove(announcedKey(clinic, event.record, event.sequence), 'existing')
      for (const { id: webhook } of subscribed) {
        const delivery = newDelivery(event, payloadClinic, { id: newId(), webhook, now: now() })
        addDelivery(changes, delivery)
        created.push({ clinic, webhook, delivery: delivery.id })
      }
      next++
    }
    changes.set(eventHeadKey(clinic), 'n', next - 1)
    changes.expectVersion(eventHeadKey(clinic), head.v)
    await changes.commit()
    return created
  }

  /** Clinics with announced events that have no position yet, including events missing from the stream. */
  async function clinicsWithAnnounced({
    partitions = ALL_ANNOUNCED_PARTITIONS,
    onRead = () => {},
  }: AnnouncedSearch = {}): Promise<ClinicId[]> {
    return (await Promise.all(partitions.map((pk) => clinicsOf(pk, onRead)))).flat()
  }

  /** The clinics of a partition, without paused ones. After a page of events, the other events of its last clinic are skipped. */
  async function clinicsOf(pk: string, onRead: (announcedAt: number) => void): Promise<ClinicId[]> {
    const found = new Set<ClinicId>()
    for (let from: string | undefined; ; ) {
      const items = await table.query({ pk, ...(from && { from }), limit: EVENTS_PER_SEARCH })
      const events = items.map((item) => ({ clinic: parseAnnouncedKey(item).clinic, at: item.c as number }))
      const paused = await clinics.pausedOf([...new Set(events.map(({ clinic }) => clinic))])
      for (const { clinic, at } of events) {
        if (paused.has(clinic)) continue
        onRead(at)
        found.add(clinic)
      }
      const last = events.at(-1)?.clinic
      if (last === undefined || items.length < EVENTS_PER_SEARCH) return [...found]
      from = announcedRange(last).to
    }
  }

  return { fanOut, clinicsWithAnnounced }
}

/**
 * Announced events by time, each record's in sequence. They are read in descending order: when an event is read, the one
 * before it in its record has been committed, so it is read too or already has its position.
 */
async function readAnnounced(table: Table, clinic: ClinicId): Promise<Event[]> {
  const range = { pk: announcedPartition(clinic), ...announcedRange(clinic) }
  const items = await table.query({ ...range, descending: true, limit: MAX_EVENTS_PER_READ })
  if (items.length < MAX_EVENTS_PER_READ) return sortEvents(items.map(decodeAnnouncedEvent))
  // More than that wait. The oldest records come first, since their ids begin with their time.
  const oldest = await table.query({ ...range, limit: MAX_EVENTS_PER_READ })
  const last = oldest.at(-1) as Item
  // All events of these records: the last one may have more.
  const to = announcedRecordEnd(clinic, parseAnnouncedKey(last).record)
  const complete = await table.query({ ...range, to, descending: true, limit: 1_000_000 })
  return sortEvents(complete.map(decodeAnnouncedEvent))
}

/** Sorts by time. Where clocks differ, a record's events keep their sequence. */
function sortEvents(events: readonly Event[]): Event[] {
  const byTime = events.toSorted((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? -1 : 1))
  const ofRecord = Map.groupBy(
    events.toSorted((a, b) => a.sequence - b.sequence),
    ({ record }) => record,
  )
  return byTime.map(({ record }) => ofRecord.get(record)?.shift() as Event)
}

/**
 * Leaves positions free that events had which are lost, so that a cursor after one of them does not skip new events. Repeating
 * it for the same restore changes nothing.
 * @param restore identifies the restore
 */
export async function skipEventPositions(table: Table, clinic: ClinicId, restore: string): Promise<void> {
  const update = table.update(eventHeadKey(clinic), {
    UpdateExpression: 'SET skippedBy = :restore ADD n :skipped, v :one',
    ConditionExpression: 'attribute_not_exists(skippedBy) OR skippedBy <> :restore',
    ExpressionAttributeValues: { ':restore': restore, ':one': 1, ':skipped': SKIPPED_POSITIONS },
  })
  await ifConditionHolds(update)
}
