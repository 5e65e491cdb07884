import type { ClinicId, ClinicInfo } from '../clinic.ts'
import type { Due } from '../due.ts'
import type { Claim } from '../messages/message.ts'
import { type Event, type EventName, eventPayload } from './event.ts'
import type { Webhook } from './webhook.ts'
import { type WebhookHealth, waitingDelay } from './webhook-health.ts'

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** One attempt to deliver an event. */
export type DeliveryAttempt = {
  /** When it started: ISO 8601 instant. */
  readonly at: string
  /** The HTTP status of the response; null if there was none. */
  readonly status: number | null
  /** Why there was no response, as one word; null if there was one. */
  readonly error: string | null
  readonly latencyMs: number
}

/** The delivery of one event to one webhook. Instants are milliseconds since the epoch. */
export type Delivery = {
  readonly id: string
  readonly webhook: string
  /** `evt_...`: the same for every webhook and every attempt. */
  readonly eventId: string
  readonly event: EventName
  readonly record: string
  /** The event's number among the events of its record: first attempts are made in this order. */
  readonly sequence: number
  /** The request body, identical at every attempt. */
  readonly body: string
  readonly status: DeliveryStatus
  /** The most recent attempts, oldest first; at most {@link MAX_STORED_ATTEMPTS}. */
  readonly attempts: readonly DeliveryAttempt[]
  /** Failed attempts since the delivery was created or last requested again; selects the next retry delay. */
  readonly failedAttempts: number
  /** When the next attempt is due; null when the delivery has ended. */
  readonly nextAt: number | null
  /** When the sweep next checks the delivery; null when the delivery has ended. */
  readonly dueAt: number | null
  /** Its ticket among the deliveries of an endpoint that is slow or only fails; null if it has none. */
  readonly waiting: Waiting | null
  /** Held by the consumer that is making an attempt, until it expires. */
  readonly claim: Claim | null
  /** Requested by the integrator: attempted even if the webhook is disabled. */
  readonly isManual: boolean
  readonly createdAt: number
  /** The id of the request that caused the event. */
  readonly requestId?: string
}

export type Waiting = {
  /**
   * `turn`: it is due, but the endpoint takes no further attempt. `success`: its attempt failed, and the next success of the
   * endpoint calls it before its retry. `called`: its turn has come.
   */
  readonly for: 'turn' | 'success' | 'called'
  readonly since: number
  /** The retry that a delivery is called before; null if it was due. */
  readonly retryAt: number | null
}

/** The ids that locate a delivery. */
export type DeliveryReference = {
  readonly clinic: ClinicId
  readonly webhook: string
  readonly delivery: string
}

/** A delivery that the sweep checks. */
export type DueDelivery = Due & { readonly webhook: string }

/** A delivery with everything that decides about its next attempt. */
export type DeliveryContext = {
  readonly delivery: Delivery
  readonly version: number
  /** Null if the webhook has been deleted. */
  readonly webhook: Webhook | null
  readonly health: WebhookHealth
  /** Whether the operator has paused the clinic. */
  readonly isPaused: boolean
}

/** More than one retry schedule and one redelivery need. */
export const MAX_STORED_ATTEMPTS = 20

/** Events and deliveries are retained for 30 days. */
export const RETENTION_SECONDS = 30 * 24 * 60 * 60

/** How long a claim lasts: longer than an attempt and the writes around it take. */
export const DELIVERY_LEASE_MS = 40_000

/** The longest delay of a queued message; the sweep queues deliveries that wait longer. */
export const MAX_QUEUE_DELAY_MS = 15 * 60_000

/** How long after a queued message is due the sweep assumes that it was lost. */
export const SWEEP_MARGIN_MS = 2 * 60_000

/** A delivery that is due at `now`. */
export function newDelivery(
  event: Event,
  clinic: Pick<ClinicInfo, 'id' | 'timezone'>,
  { id, webhook, now }: { readonly id: string; readonly webhook: string; readonly now: number },
): Delivery {
  const payload = eventPayload(event, clinic)
  return {
    id,
    webhook,
    eventId: payload.id,
    event: event.event,
    record: event.record,
    sequence: event.sequence,
    body: JSON.stringify(payload),
    status: 'pending',
    attempts: [],
    failedAttempts: 0,
    nextAt: now,
    dueAt: now + SWEEP_MARGIN_MS,
    waiting: null,
    claim: null,
    isManual: false,
    createdAt: now,
    ...(event.requestId !== undefined && { requestId: event.requestId }),
  }
}

/** Whether an attempt at `now` is one more than the retry schedule has: it does not count if it fails. */
export const isBeforeRetry = ({ waiting }: Delivery, now: number): boolean => (waiting?.retryAt ?? 0) > now

/**
 * The delivery after an attempt. `retryDelay` is in milliseconds; null if no attempt follows a failure. `mayFollow` if the
 * next success of the endpoint may call it before that.
 */
export function afterAttempt(
  delivery: Delivery,
  attempt: DeliveryAttempt,
  isDelivered: boolean,
  retryDelay: number | null,
  mayFollow = false,
): Delivery {
  const start = Date.parse(attempt.at)
  const end = start + attempt.latencyMs
  const nextAt = isDelivered || retryDelay === null ? null : end + retryDelay
  const isCounted = !isDelivered && !isBeforeRetry(delivery, start)
  return {
    ...delivery,
    status: isDelivered ? 'delivered' : nextAt === null ? 'failed' : 'pending',
    attempts: [...delivery.attempts, attempt].slice(-MAX_STORED_ATTEMPTS),
    failedAttempts: delivery.failedAttempts + (isCounted ? 1 : 0),
    waiting: nextAt !== null && mayFollow ? { for: 'success', since: end, retryAt: null } : null,
    nextAt,
    dueAt: nextAt === null ? null : checkedAt(nextAt, retryDelay ?? 0),
    claim: null,
  }
}

/** When the sweep checks a delivery whose next attempt is `delay` milliseconds away. */
const checkedAt = (nextAt: number, delay: number): number =>
  nextAt + (delay > MAX_QUEUE_DELAY_MS ? 0 : SWEEP_MARGIN_MS)

/** The delivery when its endpoint takes no attempt at `now`. */
export function postponed(delivery: Delivery, now: number): Delivery {
  const { waiting } = delivery
  if (waiting?.retryAt && isBeforeRetry(delivery, now)) {
    const { retryAt: nextAt, since } = waiting
    const dueAt = checkedAt(nextAt, nextAt - now)
    return { ...delivery, waiting: { for: 'success', since, retryAt: null }, nextAt, dueAt, claim: null }
  }
  const since = waiting && waiting.for !== 'success' ? waiting.since : now
  const delay = waitingDelay(now - since)
  const nextAt = now + delay
  const dueAt = checkedAt(nextAt, delay)
  return { ...delivery, waiting: { for: 'turn', since, retryAt: null }, nextAt, dueAt, claim: null }
}

/** Whether a delivery waits to be called. */
export const isDeliveryWaiting = ({ waiting }: Delivery): boolean =>
  waiting !== null && waiting.for !== 'called'

/** A waiting delivery that is considered again at `at`, unless it is called before. */
export const dueFrom = (delivery: Delivery, at: number): Delivery => ({
  ...delivery,
  nextAt: at,
  dueAt: at + SWEEP_MARGIN_MS,
})

/** A waiting delivery whose turn has come. */
export function called(delivery: Delivery, now: number): Delivery {
  const { for: waitsFor, since } = delivery.waiting as Waiting
  const retryAt = waitsFor === 'success' ? delivery.nextAt : null
  return { ...dueFrom(delivery, now), waiting: { for: 'called', since, retryAt } }
}

/** The delivery, failed without another attempt. */
export const abandoned = (delivery: Delivery): Delivery => ({
  ...delivery,
  status: 'failed',
  waiting: null,
  nextAt: null,
  dueAt: null,
  claim: null,
})

/** Whether a delivery is within its retention time: DynamoDB deletes expired items with a delay. */
export const isRetained = ({ createdAt }: Delivery, now: number): boolean =>
  now < createdAt + RETENTION_SECONDS * 1000

/** The delivery after an integrator requested it again: due at `now`, with a new retry schedule. */
export const redelivered = (delivery: Delivery, now: number): Delivery => ({
  ...delivery,
  status: 'pending',
  failedAttempts: 0,
  waiting: null,
  nextAt: now,
  dueAt: now + SWEEP_MARGIN_MS,
  claim: null,
  isManual: true,
})
