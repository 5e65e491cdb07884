/**
 * How the receiver of a webhook has responded, and what it may be sent. A receiver that hangs or fails would take the room of
 * all others, so its deliveries wait and follow its first success.
 */
import { JITTER } from './webhook.ts'

/** Instants are milliseconds since the epoch. */
export type WebhookHealth = {
  /** Whether an attempt has succeeded since the webhook was created, enabled or given another URL. */
  readonly isProven: boolean
  /** When the first attempt since the last success failed; null if none has. */
  readonly failingSince: number | null
  /** Failed attempts since the last success. */
  readonly failures: number
  /** Attempts since the last quick success that took longer than {@link SLOW_THRESHOLD_MS}. */
  readonly slowAttempts: number
  /** Whether the last attempt that was not cut off succeeded, if the receiver is slow. */
  readonly isAnswering: boolean
  /** When a troubled receiver may be tried again; null if it is not troubled. */
  readonly probeAt: number | null
  /** Failed attempts that began after it had become troubled. */
  readonly probes: number
  /** Until when each of the attempts that a limited receiver may have at a time lasts at most; 0 for none. */
  readonly slots: readonly number[]
  /** The delivery that was sent to the slow queue, and until when it is considered to be there. */
  readonly queued: Queued | null
  /** When a delivery last began to wait; null if none waits. */
  readonly waitingSince: number | null
}

type Queued = { readonly delivery: string; readonly until: number }

/** A slot, by its number, that is taken until an instant. */
export type Slot = { readonly number: number; readonly until: number }

/** The result of an attempt, as it affects the health of its endpoint. */
export type AttemptHealth = {
  /** `cut-off`: it took too long for the quick lane, and is repeated in the slow lane. */
  readonly result: 'success' | 'failure' | 'cut-off'
  readonly at: number
  readonly isSlow: boolean
  /** When a troubled receiver may be tried again. */
  readonly probeAt: number | null
  /** The slot that the attempt has taken. */
  readonly slot: Slot | null
  /** Whether its delivery waits for a success now. */
  readonly isWaiting: boolean
}

/** The attempts at a time to a slow receiver whose attempts succeed. */
export const SLOW_SLOTS = 3

export const HEALTHY: WebhookHealth = {
  isProven: true,
  failingSince: null,
  failures: 0,
  slowAttempts: 0,
  isAnswering: false,
  probeAt: null,
  probes: 0,
  slots: Array(SLOW_SLOTS).fill(0),
  queued: null,
  waitingSince: null,
}

/** An attempt in the quick lane is cut off after this time, so that no receiver blocks that lane for longer. */
export const SLOW_THRESHOLD_MS = 1000

/** So many slow attempts without a quick success make a receiver slow: one can be a coincidence. */
const SLOW_AFTER = 3

/** So many failures without a success make a receiver troubled. */
const TROUBLED_AFTER = 5

/** The delays between attempts to a troubled receiver: the first, and the following ones. */
const PROBE_DELAYS_MS = [5_000, 15_000, 30_000, 60_000, 120_000, 300_000]

/** Its attempts take long, so they use the slow lane, a few at a time. */
export const isSlow = ({ isProven, slowAttempts }: WebhookHealth): boolean =>
  slowAttempts >= (isProven ? SLOW_AFTER : 1)

/** Only fails, so it gets one attempt at a time, when {@link WebhookHealth.probeAt} has come. */
export const isTroubled = ({ probeAt }: WebhookHealth): boolean => probeAt !== null

/** Whether its attempts take place in the slow lane. */
export const usesSlowLane = (health: WebhookHealth): boolean => isSlow(health) || isTroubled(health)

/** Whether its attempts are limited: to a receiver that may hang, there is one at a time until the first has succeeded. */
export const isLimited = (health: WebhookHealth): boolean => usesSlowLane(health) || !health.isProven

/**
 * The numbers of the slots that an attempt to a limited receiver may take: none if the delivery has to wait. One that an
 * integrator requested does not wait until a troubled receiver may be tried again.
 */
export function freeSlots(health: WebhookHealth, isManual: boolean, now: number): number[] {
  if (isTroubled(health) && !isManual && now < (health.probeAt ?? 0)) return []
  const slots = health.slots.slice(0, health.isAnswering ? SLOW_SLOTS : 1)
  return slots.flatMap((until, number) => (until <= now ? [number] : []))
}

/** How long a delivery is considered to be in the slow queue, if its attempt does not begin before. */
export const QUEUED_MS = 120_000

/**
 * The id of the delivery that is in the slow queue; null if there may be another. One of a receiver that hangs or fails is enough: otherwise, all that are due
 * would be there when the queue is long. A receiver whose attempts succeed may have several.
 */
export const queuedDelivery = ({ isAnswering, queued }: WebhookHealth, now: number): string | null =>
  !isAnswering && queued && now < queued.until ? queued.delivery : null

/** Whether a delivery that began to wait need not: the first success, between the two states, has not found it. */
export const isReleased = (before: WebhookHealth, after: WebhookHealth | null): boolean =>
  after?.isProven === true && !before.isProven

/** Whether a new delivery has to wait, since the receiver takes no further attempt. */
export const hasToWait = (health: WebhookHealth, now: number): boolean =>
  isLimited(health) &&
  !health.isAnswering &&
  (freeSlots(health, false, now).length === 0 || queuedDelivery(health, now) !== null)

/**
 * When a receiver may be tried again that fails once more, at `now`; null if it is not troubled. It becomes troubled when the
 * attempt began after so many failures: among attempts at the same time, others may have succeeded. `random` is from 0 to 1.
 */
export function nextProbeAt(before: WebhookHealth, random: number, now: number): number | null {
  if (!isTroubled(before) && before.failures + 1 < TROUBLED_AFTER) return null
  const step = isTroubled(before) ? before.probes + 1 : 0
  const delay = PROBE_DELAYS_MS[Math.min(step, PROBE_DELAYS_MS.length - 1)] as number
  return now + Math.round(delay * (1 + JITTER * random))
}

/** How many waiting deliveries an attempt calls: several after a trouble or the first success, then one each. */
export const callSize = (before: WebhookHealth, after: WebhookHealth): number =>
  isTroubled(before) || (after.isProven && !before.isProven) ? 10 : 1

const MIN_WAIT_MS = 15_000
const MAX_WAIT_MS = 6 * 60 * 60 * 1000

/** How long a delivery goes on waiting that has waited for so long, unless it is called before: ever longer. */
export const waitingDelay = (waitedMs: number): number =>
  Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, 3 * waitedMs))
