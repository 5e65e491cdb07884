/**
 * THE STATES of a delivery, by the names of the API, and what moves it from one to another:
 *
 * | from | event | to |
 * |---|---|---|
 * | none | a change of a record, or a requested ping | pending, due now |
 * | pending, due | a consumer takes its message | pending, claimed |
 * | pending, claimed | the claim expires, since its consumer crashed | pending, due |
 * | pending, claimed | no response within a second, in the quick queue | pending, due: now in the slow queue |
 * | pending, claimed | a response of 2xx | delivered |
 * | pending, claimed | a failure | pending, due at its retry |
 * | pending, claimed | a response of 410, or the failure of the last retry | failed |
 * | pending, due | its clinic is paused | pending, due: after the pause |
 * | pending, due | its endpoint was deleted, or disabled and nobody requested the delivery | failed |
 * | any | a requested redelivery | pending, due now |
 *
 * Every pending delivery has a due item, from which the sweep queues it: for a retry that is further away than a queue can
 * delay, and a while after a message is due that may be lost.
 */
import type { Claim } from '../messages/message.ts'
import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryQueue,
  MAX_QUEUE_DELAY_MS,
  type Outcome,
  SWEEP_MARGIN_MS,
} from './delivery.ts'
import { nextRetryDelay, type Webhook } from './webhook.ts'
import type { WebhookHealth } from './webhook-health.ts'

/** More than one retry schedule and one redelivery need. */
export const MAX_STORED_ATTEMPTS = 20

/** Queues and clocks are inexact: a delivery that arrives this early is attempted. */
const EARLY_TOLERANCE_MS = 1000

/** One that arrives at most this early is queued again for the rest of the time. A sweep queues one that is due later. */
const MAX_EARLY_MS = 60_000

/** A delivery with everything that decides about its next attempt. */
export type DeliveryContext = {
  readonly delivery: Delivery
  /** Null if the webhook has been deleted. */
  readonly webhook: Webhook | null
  readonly health: WebhookHealth
  /** Whether the operator has paused the clinic. */
  readonly isPaused: boolean
}

/** What the consumer of a message does, with the state of the delivery from then on. */
export type Step =
  /** The delivery has ended, is claimed, or is queued by a sweep later. */
  | { readonly kind: 'ignore' }
  | { readonly kind: 'queue'; readonly queue: DeliveryQueue; readonly delayMs: number }
  | { readonly kind: 'change'; readonly after: Delivery }
  | { readonly kind: 'attempt'; readonly after: Delivery; readonly webhook: Webhook }

type Message = { readonly queue: DeliveryQueue; readonly claim: Claim; readonly now: number }

/** Decides what to do with a message of a delivery. Messages may be repeated, and may arrive in any order. */
export function nextStep(
  { delivery, webhook, health, isPaused }: DeliveryContext,
  { queue, claim, now }: Message,
): Step {
  if (delivery.status !== 'pending' || isClaimedByOther(delivery, claim, now)) return { kind: 'ignore' }
  if (isPaused) return { kind: 'change', after: held(delivery, now) }
  const early = (delivery.nextAt ?? 0) - now
  if (early > MAX_EARLY_MS) return { kind: 'ignore' }
  if (early > EARLY_TOLERANCE_MS) return { kind: 'queue', queue, delayMs: early }
  if (!webhook || !(webhook.isActive || delivery.isManual))
    return { kind: 'change', after: ended(delivery, 'failed') }
  if (queue === 'quick' && health.isSlow) return { kind: 'queue', queue: 'slow', delayMs: 0 }
  return { kind: 'attempt', after: { ...delivery, claim }, webhook }
}

const isClaimedByOther = ({ claim }: Delivery, own: Claim, now: number): boolean =>
  claim !== null && claim.until > now && claim.token !== own.token

/** A delivery of a paused clinic is due again after the pause. The sweep that queued it has moved its due item. */
const held = (delivery: Delivery, now: number): Delivery => ({
  ...delivery,
  dueAt: Math.min(delivery.dueAt ?? now, Math.max(now, delivery.nextAt ?? now)),
})

/** The delivery after an attempt. `random` is a number from 0 to 1. */
export function afterAttempt(
  delivery: Delivery,
  { kind, attempt, retryAfter }: Outcome,
  random: number,
): Delivery {
  // Not listed, and no retry: the slow queue repeats it.
  if (kind === 'cut-off') return { ...delivery, claim: null }
  const attempts = withLatest(delivery, attempt)
  if (kind === 'delivered') return ended({ ...delivery, attempts }, 'delivered')
  const failed = { ...delivery, attempts, failedAttempts: delivery.failedAttempts + 1 }
  const delay = kind === 'gone' ? null : nextRetryDelay(failed.failedAttempts, retryAfter, random)
  if (delay === null) return ended(failed, 'failed')
  const nextAt = Date.parse(attempt.at) + attempt.latencyMs + delay
  return { ...failed, nextAt, dueAt: dueAfter(failed, nextAt, delay), claim: null }
}

/** Lists an attempt of a delivery that was requested again meanwhile, and is due or claimed as it was. Null if it is listed. */
export const withAttempt = (delivery: Delivery, { kind, attempt }: Outcome): Delivery | null =>
  kind === 'cut-off' || delivery.attempts.some(({ at }) => at === attempt.at)
    ? null
    : { ...delivery, attempts: withLatest(delivery, attempt) }

const withLatest = ({ attempts }: Delivery, attempt: DeliveryAttempt): DeliveryAttempt[] =>
  [...attempts, attempt].slice(-MAX_STORED_ATTEMPTS)

/** When the sweep checks a delivery with a retry. A due item costs writes, so it stays where it is if it is after the retry. */
function dueAfter({ dueAt }: Delivery, nextAt: number, delay: number): number {
  if (delay > MAX_QUEUE_DELAY_MS) return nextAt
  return dueAt !== null && dueAt >= nextAt ? dueAt : nextAt + SWEEP_MARGIN_MS
}

const ended = (delivery: Delivery, status: 'delivered' | 'failed'): Delivery => ({
  ...delivery,
  status,
  nextAt: null,
  dueAt: null,
  claim: null,
})

/** The delivery after an integrator requested it again: due at `now`, with a new retry schedule. */
export const redelivered = (delivery: Delivery, now: number): Delivery => ({
  ...delivery,
  status: 'pending',
  failedAttempts: 0,
  nextAt: now,
  dueAt: now + SWEEP_MARGIN_MS,
  claim: null,
  isManual: true,
})
