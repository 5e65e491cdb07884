/**
 * The circuit breaker of a webhook: how its endpoint has responded, and what it may be sent. An endpoint that hangs or fails would take the room of
 * all others, so its deliveries wait and follow its first success.
 */
import { JITTER } from './webhook.ts'

/** Instants are milliseconds since the epoch. */
export type WebhookHealth = {
  /** Whether an attempt has succeeded since the webhook was created, enabled or given another URL. */
  readonly hasSucceeded: boolean
  /** When the first attempt since the last success failed; null if none has. */
  readonly failingSince: number | null
  /** Failed attempts since the last success. */
  readonly failures: number
  /** Attempts since the last quick success that took longer than {@link SLOW_THRESHOLD_MS}. */
  readonly slowAttempts: number
  /** Whether the last attempt that was not cut off succeeded, if the endpoint is slow. */
  readonly isResponding: boolean
  /** When the circuit becomes half-open, so that one delivery is tried; null while it is closed. */
  readonly halfOpenAt: number | null
  /** Failed attempts that began after the circuit had opened. */
  readonly failedTrials: number
  /** The latest end of each attempt that a limited endpoint may have at a time; 0 for none. */
  readonly permits: readonly number[]
  /** The delivery that was sent to the slow queue, and until when it is considered to be there. */
  readonly queued: Queued | null
  /** When a delivery last began to wait; null if none waits. */
  readonly waitingSince: number | null
}

type Queued = { readonly delivery: string; readonly until: number }

/** A permit, by its number, that is taken until an instant. */
export type Permit = { readonly number: number; readonly until: number }

/** The result of an attempt, as it affects the health of its endpoint. */
export type AttemptHealth = {
  /** `cut-off`: it took too long for the quick lane, and is repeated in the slow lane. */
  readonly result: 'success' | 'failure' | 'cut-off'
  readonly at: number
  readonly isSlow: boolean
  /** When an open circuit becomes half-open. */
  readonly halfOpenAt: number | null
  /** The permit that the attempt has taken. */
  readonly permit: Permit | null
  /** Whether its delivery waits for a success now. */
  readonly isWaiting: boolean
}

/** The attempts at a time to a slow endpoint whose attempts succeed. */
export const SLOW_PERMITS = 3

export const HEALTHY: WebhookHealth = {
  hasSucceeded: true,
  failingSince: null,
  failures: 0,
  slowAttempts: 0,
  isResponding: false,
  halfOpenAt: null,
  failedTrials: 0,
  permits: Array(SLOW_PERMITS).fill(0),
  queued: null,
  waitingSince: null,
}

/** An attempt in the quick lane is cut off after this time, so that no endpoint blocks that lane for longer. */
export const SLOW_THRESHOLD_MS = 1000

/** So many slow attempts without a quick success make an endpoint slow: one can be a coincidence. */
const SLOW_AFTER = 3

/** So many failures without a success open the circuit. */
export const OPENS_AFTER = 5

/** How long the circuit stays open: the first time, and after each failed trial. */
const OPEN_MS = [5_000, 15_000, 30_000, 60_000, 120_000, 300_000]

/** Its attempts take long, so they use the slow lane, a few at a time. */
export const isSlow = ({ hasSucceeded, slowAttempts }: WebhookHealth): boolean =>
  slowAttempts >= (hasSucceeded ? SLOW_AFTER : 1)

/** The circuit is open: the endpoint only fails, so it gets one attempt at a time, from {@link WebhookHealth.halfOpenAt} on. */
export const isOpen = ({ halfOpenAt }: WebhookHealth): boolean => halfOpenAt !== null

/** Whether its attempts take place in the slow lane. */
export const usesSlowLane = (health: WebhookHealth): boolean => isSlow(health) || isOpen(health)

/** Whether its attempts are limited: to an endpoint that may hang, there is one at a time until the first has succeeded. */
export const isLimited = (health: WebhookHealth): boolean => usesSlowLane(health) || !health.hasSucceeded

/**
 * The numbers of the permits that an attempt to a limited endpoint may take: none if the delivery has to wait. One that an
 * integrator requested does not wait until an open circuit becomes half-open.
 */
export function freePermits(health: WebhookHealth, isManual: boolean, now: number): number[] {
  if (isOpen(health) && !isManual && now < (health.halfOpenAt ?? 0)) return []
  const permits = health.permits.slice(0, health.isResponding ? SLOW_PERMITS : 1)
  return permits.flatMap((until, number) => (until <= now ? [number] : []))
}

/** How long a delivery is considered to be in the slow queue, if its attempt does not begin before. */
export const QUEUED_MS = 120_000

/**
 * The id of the delivery that is in the slow queue; null if there may be another. One of an endpoint that hangs or fails is enough: otherwise, all that are due
 * would be there when the queue is long. An endpoint whose attempts succeed may have several.
 */
export const queuedDelivery = ({ isResponding, queued }: WebhookHealth, now: number): string | null =>
  !isResponding && queued && now < queued.until ? queued.delivery : null

/** Whether a delivery that began to wait need not: the first success, between the two states, has not found it. */
export const isReleased = (before: WebhookHealth, after: WebhookHealth | null): boolean =>
  after?.hasSucceeded === true && !before.hasSucceeded

/** Whether a new delivery has to wait, since the endpoint takes no further attempt. */
export const hasToWait = (health: WebhookHealth, now: number): boolean =>
  isLimited(health) &&
  !health.isResponding &&
  (freePermits(health, false, now).length === 0 || queuedDelivery(health, now) !== null)

/**
 * When the circuit of an endpoint that fails once more, at `now`, becomes half-open; null while it stays closed. It opens when the
 * attempt began after so many failures: among attempts at the same time, others may have succeeded. `random` is from 0 to 1.
 */
export function nextHalfOpenAt(before: WebhookHealth, random: number, now: number): number | null {
  if (!isOpen(before) && before.failures + 1 < OPENS_AFTER) return null
  const step = isOpen(before) ? before.failedTrials + 1 : 0
  const delay = OPEN_MS[Math.min(step, OPEN_MS.length - 1)] as number
  return now + Math.round(delay * (1 + JITTER * random))
}

/** How many waiting deliveries an attempt calls: several after an open circuit or the first success, then one each. */
export const callSize = (before: WebhookHealth, after: WebhookHealth): number =>
  isOpen(before) || (after.hasSucceeded && !before.hasSucceeded) ? 10 : 1

const MIN_WAIT_MS = 15_000
const MAX_WAIT_MS = 6 * 60 * 60 * 1000

/** How much longer a delivery waits that has waited for so long, unless it is called before: ever longer. */
export const waitingDelay = (waitedMs: number): number =>
  Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, 3 * waitedMs))
