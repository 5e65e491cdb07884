/** The stored format of events, deliveries and webhooks. Attribute names and values of stored items never change. */
import * as z from 'zod'
import type { ClinicId } from '../../domain/clinic.ts'
import { DELIVERY_STATUSES, type Delivery, RETENTION_SECONDS } from '../../domain/webhooks/delivery.ts'
import type { Event, EventData, EventName, EventSource } from '../../domain/webhooks/event.ts'
import type { Webhook } from '../../domain/webhooks/webhook.ts'
import type { WebhookHealth } from '../../domain/webhooks/webhook-health.ts'
import { eventKey, parseAnnouncedKey } from '../keys/events.ts'
import { TTL } from '../keys/key.ts'
import { deliveryKey, parseDeliveryKey, parseWebhookKey, webhookKey } from '../keys/webhooks.ts'
import { unknownAttributes, unknownOf } from '../table/attributes.ts'
import { readRecord } from '../table/unreadable-record.ts'
import type { Item } from '../table/write-requests.ts'

// Not an enum, nor data with known types: after a rollback, stored items may have events that this version does not know.
const StoredEventName = z.custom<EventName>((name) => typeof name === 'string')
const StoredEventData = z.custom<EventData>(
  (data) => typeof data === 'object' && data !== null && !Array.isArray(data),
)

const StoredEventSource = z.custom<EventSource>((source) => typeof source === 'string')

const unknownIn = (item: Item, { shape }: z.ZodObject): object =>
  unknownAttributes(item, new Set(['pk', 'sk', 'v', TTL, ...Object.keys(shape)]))

const StoredVersion = z.object({ v: z.int() })

/** The version of a stored item, for conditional writes. */
export const decodeVersion = (item: Item): number => StoredVersion.parse(item).v

const StoredDelivery = z.object({
  eventId: z.string(),
  event: StoredEventName,
  record: z.string(),
  sequence: z.int(),
  body: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.array(
    z.looseObject({
      at: z.string(),
      status: z.int().nullable(),
      error: z.string().nullable(),
      latencyMs: z.int(),
    }),
  ),
  tries: z.int(),
  nextAt: z.number().nullable(),
  dueAt: z.number().nullable(),
  claim: z.looseObject({ token: z.string(), until: z.number() }).nullable(),
  isAskedFor: z.boolean(),
  createdAt: z.number(),
  requestId: z.string().optional(),
})

export function decodeDelivery(item: Item): Delivery {
  const { tries, isAskedFor, ...rest } = StoredDelivery.parse(item)
  return {
    ...parseDeliveryKey(item),
    ...rest,
    ...unknownIn(item, StoredDelivery),
    failedAttempts: tries,
    isManual: isAskedFor,
  }
}

export function encodeDelivery(clinic: ClinicId, delivery: Delivery, version: number): Item {
  const { id, webhook, failedAttempts, isManual, ...rest } = delivery
  const attributes: z.input<typeof StoredDelivery> = {
    ...rest,
    attempts: [...rest.attempts],
    tries: failedAttempts,
    isAskedFor: isManual,
  }
  return {
    ...deliveryKey(clinic, webhook, id),
    ...attributes,
    ...unknownOf(delivery),
    v: version,
    [TTL]: expirySeconds(Math.max(delivery.createdAt, delivery.nextAt ?? 0)),
  }
}

/** When an item that was created at `createdAt` (milliseconds) expires, in seconds since the epoch. */
export const expirySeconds = (createdAt: number): number => Math.floor(createdAt / 1000) + RETENTION_SECONDS

const StoredExpiry = z.object({ [TTL]: z.number() })

/** Whether an item has expired at `now` (milliseconds): DynamoDB deletes expired items with a delay. */
export const isExpired = (item: Item, now: number): boolean => StoredExpiry.parse(item)[TTL] <= now / 1000

const StoredWebhook = z.object({
  url: z.string(),
  events: z.array(StoredEventName),
  isActive: z.boolean(),
  description: z.string().nullable(),
  secret: z.string(),
  secretNumber: z.int(),
  previousSecrets: z.array(z.looseObject({ secret: z.string(), until: z.string() })),
  createdBy: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

/** @throws UnreadableRecord */
export function decodeWebhook(item: Item): Webhook {
  const id = parseWebhookKey(item)
  return readRecord(item, id, () => ({
    id,
    ...StoredWebhook.parse(item),
    ...unknownIn(item, StoredWebhook),
  }))
}

export const encodeWebhook = (clinic: ClinicId, { id, ...webhook }: Webhook, version: number): Item => ({
  ...webhookKey(clinic, id),
  ...webhook,
  ...unknownOf(webhook),
  v: version,
})

const StoredHealth = z.object({ isSlow: z.boolean().optional(), failingSince: z.number().optional() })

/** The health of a webhook; healthy for a new or deleted one. */
export function decodeHealth(item: Item | undefined): WebhookHealth {
  const { isSlow = false, failingSince = null } = StoredHealth.parse(item ?? {})
  return { isSlow, failingSince }
}

const StoredAnnouncement = z.object({
  i: z.string(),
  e: StoredEventName,
  d: StoredEventData,
  c: z.number(),
  /** Absent in items of earlier versions. */
  s: StoredEventSource.optional(),
  /** The request that changed the record; absent for other changes. */
  rq: z.string().optional(),
})
const StoredEvent = StoredAnnouncement.extend({ r: z.string(), q: z.int() })

const toEvent = ({ i, e, r, q, d, c, s, rq }: z.output<typeof StoredEvent>): Event => ({
  ...{ id: i, event: e, record: r, sequence: q, data: d, createdAt: new Date(c).toISOString() },
  ...(s !== undefined && { source: s }),
  ...(rq !== undefined && { requestId: rq }),
})

export const decodeEvent = (item: Item): Event => toEvent(StoredEvent.parse(item))

/** An event as its record's transaction announced it (`Changeset.announce`). */
export function decodeAnnouncedEvent(item: Item): Event {
  const { record, sequence } = parseAnnouncedKey(item)
  const event = toEvent(StoredEvent.parse({ ...item, r: record, q: sequence }))
  return { ...event, ...unknownIn(item, StoredAnnouncement) }
}

/** @param now when the event gets its position, from which on it is retained: its clinic may have been paused for longer than that */
export function encodeEvent(clinic: ClinicId, position: number, event: Event, now: number): Item {
  const createdAt = Date.parse(event.createdAt)
  const attributes: z.input<typeof StoredEvent> = {
    i: event.id,
    e: event.event,
    r: event.record,
    q: event.sequence,
    d: { ...event.data },
    c: createdAt,
    ...(event.source !== undefined && { s: event.source }),
    ...(event.requestId !== undefined && { rq: event.requestId }),
  }
  return { ...eventKey(clinic, position), ...unknownOf(event), ...attributes, [TTL]: expirySeconds(now) }
}

const StoredCounter = z.object({ n: z.int(), v: z.int() })

/** A counter and its version; both 0 before the first count. */
export const decodeCounter = (item: Item | undefined): { n: number; v: number } =>
  item ? StoredCounter.parse(item) : { n: 0, v: 0 }
