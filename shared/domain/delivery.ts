import type { ClinicId, ClinicInfo } from './clinic.ts'
import type { Due } from './due.ts'
import { type Event, type EventName, eventPayload } from './event.ts'
import type { Claim } from './message.ts'
import type { Webhook } from './webhook.ts'
import { MAX_WAITING_AGE_MS, type WebhookHealth, waitingDelay } from './webhook-health.ts'

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** One attempt to deliver an event. */
export type Attempt = {
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
  readonly attempts: readonly Attempt[]
  /** Failed attempts since the delivery was created or last requested again; selects the next retry delay. */
  readonly failedAttempts: number
  /** When the next attempt is due; null when the delivery has ended. */
  readonly nextAt: number | null
  /** When the sweep next checks the delivery; null when the delivery has ended. */
  readonly dueAt: number | null
  /** Waits for its turn at a receiver that is slow or only fails; a success of the receiver releases it. */
  readonly isWaiting: boolean
  /** Held by the consumer that is making an attempt, until it expires. */
  readonly claim: Claim | null
  /** Requested by the integrator: attempted even if the webhook is disabled. */
  readonly isManual: boolean
  /** When it was created or last requested: its retries end a certain time later. */
  readonly requestedAt: number
  readonly createdAt: number
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
}

/** More than one retry schedule and one redelivery need. */
export const MAX_STORED_ATTEMPTS = 20

/** Events and deliveries are retained for 30 days. */
export const RETENTION_SECONDS = 30 * 24 * 60 * 60

/** How long a claim lasts: longer than an attempt and the writes around it take. */
export const LEASE_MS = 40_000

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
    isWaiting: false,
    claim: null,
    isManual: false,
    requestedAt: now,
    createdAt: now,
  }
}

/**
 * The delivery after an attempt. `retryDelay` is in milliseconds; null if no attempt follows a failure. `mayFollow` if the
 * next success of the receiver may release it before that.
 */
export function afterAttempt(
  delivery: Delivery,
  attempt: Attempt,
  isDelivered: boolean,
  retryDelay: number | null,
  mayFollow = false,
): Delivery {
  const nextAt =
    isDelivered || retryDelay === null ? null : Date.parse(attempt.at) + attempt.latencyMs + retryDelay
  return {
    ...delivery,
    status: isDelivered ? 'delivered' : nextAt === null ? 'failed' : 'pending',
    attempts: [...delivery.attempts, attempt].slice(-MAX_STORED_ATTEMPTS),
    failedAttempts: delivery.failedAttempts + (isDelivered ? 0 : 1),
    isWaiting: nextAt !== null && mayFollow,
    nextAt,
    dueAt: nextAt === null ? null : checkedAt(nextAt, retryDelay ?? 0),
    claim: null,
  }
}

/** When the sweep checks a delivery whose next attempt is `delay` milliseconds away. */
const checkedAt = (nextAt: number, delay: number): number =>
  nextAt + (delay > MAX_QUEUE_DELAY_MS ? 0 : SWEEP_MARGIN_MS)

/** The delivery when its receiver takes no attempt at `now`: later, or failed if it has waited for too long. */
export function waiting(delivery: Delivery, now: number): Delivery {
  const age = now - delivery.requestedAt
  if (age >= MAX_WAITING_AGE_MS) return abandoned(delivery)
  const delay = waitingDelay(age)
  const nextAt = now + delay
  return { ...delivery, isWaiting: true, nextAt, dueAt: checkedAt(nextAt, delay), claim: null }
}

/** A waiting delivery, due at `now`. */
export const released = (delivery: Delivery, now: number): Delivery => ({
  ...delivery,
  isWaiting: false,
  nextAt: now,
  dueAt: now + SWEEP_MARGIN_MS,
})

/** The delivery, failed without another attempt. */
export const abandoned = (delivery: Delivery): Delivery => ({
  ...delivery,
  status: 'failed',
  isWaiting: false,
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
  isWaiting: false,
  nextAt: now,
  dueAt: now + SWEEP_MARGIN_MS,
  claim: null,
  isManual: true,
  requestedAt: now,
})
