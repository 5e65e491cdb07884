import { type Event, type EventName, eventPayload } from './event.ts'

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** One try to deliver. */
export type Attempt = {
  /** ISO 8601 instant. */
  readonly at: string
  /** What the receiver answered; null for no answer. */
  readonly status: number | null
  /** Why there was no answer, in a word. */
  readonly error: string | null
  readonly latencyMs: number
}

/** One event on its way to one endpoint. Instants are milliseconds since the epoch. */
export type Delivery = {
  readonly id: string
  readonly webhook: string
  /** `evt_...`: the same for every endpoint and every attempt. */
  readonly eventId: string
  readonly event: EventName
  /** Which record it is of, and the how-manieth event of it: first attempts go in that order. */
  readonly record: string
  readonly sequence: number
  /** What is sent, byte for byte, at every attempt. */
  readonly body: string
  readonly status: DeliveryStatus
  /** The latest; at most {@link MAX_STORED_ATTEMPTS}. */
  readonly attempts: readonly Attempt[]
  /** Attempts that failed since it was made, or asked for again: the schedule goes by this. */
  readonly tries: number
  /** When it is to be tried next; null when it is done. */
  readonly nextAt: number | null
  /** When the sweep looks at it, whatever else happens; null when it is done. */
  readonly dueAt: number | null
  /** Who is at it, and until when that may be believed. */
  readonly claim: { readonly token: string; readonly until: number } | null
  /** Asked for by the integrator: attempted even when the endpoint is disabled. */
  readonly isAskedFor: boolean
  readonly createdAt: number
}

/** More than a schedule and a redelivery have. */
export const MAX_STORED_ATTEMPTS = 20

/** Events and deliveries are kept for 30 days. */
export const RETENTION_SECONDS = 30 * 24 * 60 * 60

/** How long a consumer may be believed to be at an attempt: longer than one takes, with what is around it. */
export const LEASE_MS = 40_000

/** The longest that a queue holds something back; what waits longer is left to the sweep. */
export const MAX_QUEUE_DELAY_MS = 15 * 60_000

/** The sweep looks after what a queue holds only well after the queue should have. */
export const SWEEP_MARGIN_MS = 2 * 60_000

/** An event on its way to an endpoint, from `now` on; its body is made here, once. */
export function newDelivery(
  id: string,
  event: Event,
  webhook: string,
  clinic: Parameters<typeof eventPayload>[1],
  now: number,
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
    tries: 0,
    nextAt: now,
    dueAt: now + SWEEP_MARGIN_MS,
    claim: null,
    isAskedFor: false,
    createdAt: now,
  }
}

/** The delivery after an attempt: delivered, tried again after `wait` milliseconds, or failed when there is none. */
export function afterAttempt(
  delivery: Delivery,
  attempt: Attempt,
  isDelivered: boolean,
  retryDelay: number | null,
): Delivery {
  const nextAt =
    isDelivered || retryDelay === null ? null : Date.parse(attempt.at) + attempt.latencyMs + retryDelay
  return {
    ...delivery,
    status: isDelivered ? 'delivered' : nextAt === null ? 'failed' : 'pending',
    attempts: [...delivery.attempts, attempt].slice(-MAX_STORED_ATTEMPTS),
    tries: delivery.tries + (isDelivered ? 0 : 1),
    nextAt,
    dueAt: nextAt === null ? null : nextAt + ((retryDelay ?? 0) > MAX_QUEUE_DELAY_MS ? 0 : SWEEP_MARGIN_MS),
    claim: null,
  }
}

/** The delivery, given up without an attempt. */
export const abandoned = (delivery: Delivery): Delivery => ({
  ...delivery,
  status: 'failed',
  nextAt: null,
  dueAt: null,
  claim: null,
})

/** Whether a delivery is still there for its integrator: deletion by time to live lags behind. */
export const isRetained = ({ createdAt }: Delivery, now: number): boolean =>
  now < createdAt + RETENTION_SECONDS * 1000

/** The delivery as an integrator asks for it again: now, with a schedule of its own. */
export const redelivered = (delivery: Delivery, now: number): Delivery => ({
  ...delivery,
  status: 'pending',
  tries: 0,
  nextAt: now,
  dueAt: now + SWEEP_MARGIN_MS,
  claim: null,
  isAskedFor: true,
})
