import type { ClinicId, ClinicInfo } from '../clinic.ts'
import type { Due } from '../due.ts'
import type { Claim } from '../messages/message.ts'
import { type Event, type EventName, eventPayload } from './event.ts'

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

export type DeliveryAttempt = {
  /** When it started: ISO 8601 instant. */
  readonly at: string
  /** The HTTP status of the response; null if there was none. */
  readonly status: number | null
  /** Why there was no response, as one word; null if there was one. */
  readonly error: string | null
  readonly latencyMs: number
}

/** Whether a response with this status accepts an event; null if there was no response. */
export const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300

/** How an attempt ended. */
export type Outcome = {
  /** `cut-off`: the quick queue had no more time for it. `gone`: the endpoint wants no further event. */
  readonly kind: 'delivered' | 'failed' | 'gone' | 'cut-off'
  readonly attempt: DeliveryAttempt
  /** The delay in milliseconds that the endpoint requested; null for none. */
  readonly retryAfter: number | null
}

/** The delivery of one event to one webhook. Instants are milliseconds since the epoch. */
export type Delivery = {
  readonly id: string
  readonly webhook: string
  /** `evt_...`: the same for every webhook and every attempt. */
  readonly eventId: string
  readonly event: EventName
  readonly record: string
  /** The event's number among the events of its record. */
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
  /** Held by the consumer that is making an attempt, until it expires. */
  readonly claim: Claim | null
  /** Requested by the integrator: attempted even if the webhook is disabled. */
  readonly isManual: boolean
  readonly createdAt: number
  /** The id of the request that caused the event. */
  readonly requestId?: string
}

/** Every delivery begins in the quick queue, whose attempts take a second at most. The slow queue has those of slow endpoints. */
export type DeliveryQueue = 'quick' | 'slow'

/** The ids that locate a delivery. */
export type DeliveryReference = {
  readonly clinic: ClinicId
  readonly webhook: string
  readonly delivery: string
}

/** A delivery that the sweep checks. */
export type DueDelivery = Due & { readonly webhook: string }

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
    claim: null,
    isManual: false,
    createdAt: now,
    ...(event.requestId !== undefined && { requestId: event.requestId }),
  }
}

/** Whether a delivery is within its retention time: DynamoDB deletes expired items with a delay. */
export const isRetained = ({ createdAt }: Delivery, now: number): boolean =>
  now < createdAt + RETENTION_SECONDS * 1000
