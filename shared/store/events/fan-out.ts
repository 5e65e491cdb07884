/**
 * Events: announced in their record's own transaction, so none is lost and none is made up; given their place, and made
 * deliveries, here. All of it is one transaction, so it happens once, whoever dies in the middle.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import { newDelivery } from '../../domain/delivery.ts'
import type { Event } from '../../domain/event.ts'
import { isSubscribedTo } from '../../domain/webhook.ts'
import { clinicStore } from '../clinics.ts'
import {
  ALL_ANNOUNCED_PARTITIONS,
  announcedKey,
  announcedPartition,
  announcedRange,
  eventHeadKey,
  parseAnnouncedKey,
} from '../keys/events.ts'
import { Changeset } from '../table/changeset.ts'
import { retryOnConflict } from '../table/retry-on-conflict.ts'
import { MAX_TRANSACTION_ITEMS, type Table } from '../table/table.ts'
import { deliveryStore } from './deliveries.ts'
import { eventItem, toAnnouncedEvent } from './events.ts'
import { webhookStore } from './webhooks.ts'

/** Announced events that are read for one transaction: about twice what it holds, since each reads them anew. */
const MAX_EVENTS_PER_READ = 100

/** Announced events of each partition that are looked through for clinics. */
const MAX_ANNOUNCED_PER_PARTITION = 1000

/** A delivery that a queue is to be told of. */
export type CreatedDelivery = {
  readonly clinic: ClinicId
  readonly webhook: string
  readonly delivery: string
}

type FanOutPlatform = { readonly table: Table; readonly now: () => number; readonly newId: () => string }

export function eventFanOut({ table, now, newId }: FanOutPlatform) {
  const deliveries = deliveryStore({ table })
  const webhooks = webhookStore({ table })
  const clinics = clinicStore({ table })

  /**
   * Gives a clinic's announced events their places, and each endpoint that wants one its delivery; `push` is told of the
   * deliveries, transaction by transaction. What dies before its push is due soon, and swept.
   */
  async function fanOut(
    clinic: ClinicId,
    push: (created: CreatedDelivery[]) => Promise<void>,
  ): Promise<void> {
    for (let more = true; more; ) {
      const created = await retryOnConflict(() => fanOutBatch(clinic))
      more = created !== null
      if (created && created.length > 0) await push(created)
    }
  }

  /** One transaction of as many events as it holds; null when nothing is announced. */
  async function fanOutBatch(clinic: ClinicId): Promise<CreatedDelivery[] | null> {
    // The head first: whoever places events after it was read makes this fail.
    const head = await table.get(eventHeadKey(clinic))
    const events = await readAnnounced(clinic)
    if (events.length === 0) return null
    const [endpoints, facts] = await Promise.all([webhooks.list(clinic), clinics.find(clinic)])
    const payloadClinic = { id: clinic, timezone: facts?.timezone ?? 'UTC' }
    const changes = new Changeset(table, clinic)
    const created: CreatedDelivery[] = []
    let next = ((head?.n as number | undefined) ?? 0) + 1
    const first = next
    for (const event of events) {
      const wanting = endpoints.filter((endpoint) => isSubscribedTo(endpoint, event.event))
      if (changes.size + 2 + 3 * wanting.length > MAX_TRANSACTION_ITEMS - 1 && next > first) break
      changes.put(eventItem(clinic, next, event), 'new')
      changes.removeExisting(announcedKey(clinic, event.record, event.sequence))
      for (const endpoint of wanting) {
        const delivery = newDelivery(newId(), event, endpoint.id, payloadClinic, now())
        deliveries.addDelivery(changes, delivery, { isFirst: true })
        created.push({ clinic, webhook: endpoint.id, delivery: delivery.id })
      }
      next++
    }
    changes.set(eventHeadKey(clinic), 'n', next - 1)
    changes.expectVersion(eventHeadKey(clinic), (head?.v as number | undefined) ?? 0)
    await changes.commit()
    return created
  }

  /**
   * What is announced, in the order it happened, each record's in its own order. Read downwards: an event that is seen was
   * committed after the one before it, so that one is seen too, or has its place already.
   */
  async function readAnnounced(clinic: ClinicId): Promise<Event[]> {
    const range = { pk: announcedPartition(clinic), ...announcedRange(clinic), descending: true }
    const items = await table.query({ ...range, limit: MAX_EVENTS_PER_READ })
    const events = items.map(toAnnouncedEvent)
    if (items.length < MAX_EVENTS_PER_READ) return sortEvents(events)
    // The last record may have earlier events beyond the limit.
    const last = events.at(-1)?.record
    const whole = events.filter(({ record }) => record !== last)
    return sortEvents(
      whole.length > 0 ? whole : (await table.query({ ...range, limit: 1_000_000 })).map(toAnnouncedEvent),
    )
  }

  /** Clinics that have announced events without a place: those that the stream lost, too. */
  async function clinicsWithAnnounced(): Promise<ClinicId[]> {
    const reads = ALL_ANNOUNCED_PARTITIONS.map((pk) =>
      table.query({ pk, limit: MAX_ANNOUNCED_PER_PARTITION }),
    )
    return [...new Set((await Promise.all(reads)).flat().map((item) => parseAnnouncedKey(item).clinic))]
  }

  return { fanOut, clinicsWithAnnounced }
}

/** By time; where clocks differ, a record's events still stand in their order. */
function sortEvents(events: readonly Event[]): Event[] {
  const byTime = events.toSorted((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? -1 : 1))
  const ofRecord = Map.groupBy(
    events.toSorted((a, b) => a.sequence - b.sequence),
    ({ record }) => record,
  )
  return byTime.map(({ record }) => ofRecord.get(record)?.shift() as Event)
}
