import { type EventName, PING } from './event.ts'

/** An integrator's address for events (spec section 2). Instants are ISO 8601. */
export type Webhook = {
  readonly id: string
  readonly url: string
  readonly events: readonly EventName[]
  readonly isActive: boolean
  readonly description: string | null
  readonly secret: string
  /** Signs too, until then, so that a receiver can change over. */
  readonly previousSecret: { readonly secret: string; readonly until: string } | null
  readonly createdAt: string
  readonly updatedAt: string
}

/** How an endpoint behaves, as its attempts show. Instants are milliseconds since the epoch. */
export type WebhookHealth = {
  /** When the first attempt failed since one last succeeded; null while all is well. */
  readonly failingSince: number | null
  /** It fails, or takes its time: its deliveries go a way of their own, and hold nobody up. */
  readonly isSlow: boolean
}

export const HEALTHY: WebhookHealth = { failingSince: null, isSlow: false }

/** Of one clinic. */
export const MAX_WEBHOOKS = 20

/** How long two secrets sign after a rotation. */
export const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1000

/** An endpoint that only failed for so long is disabled. */
export const DISABLE_AFTER_MS = 5 * 24 * 60 * 60 * 1000

/** The secrets that sign at `now`, the present one first. */
export function signingSecrets({ secret, previousSecret }: Webhook, now: number): string[] {
  return previousSecret && now < Date.parse(previousSecret.until) ? [secret, previousSecret.secret] : [secret]
}

/** Whether an endpoint gets an event; a ping asks nobody. */
export const isSubscribedTo = ({ isActive, events }: Webhook, event: EventName): boolean =>
  isActive && (event === PING || events.includes(event))

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Waits before the second attempt and those after it; three days in all. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

/** Added to a wait, at most: receivers that failed together do not come back together. */
export const JITTER = 0.1

/** A receiver may ask for a longer wait, but for no longer than the longest of ours. */
const MAX_RETRY_AFTER_MS = 24 * HOUR

/**
 * Milliseconds until the next attempt after so many have failed, `asked` being what the receiver asked for; null when there
 * is none. `random` is from 0 to 1.
 */
export function nextRetryDelay(
  failedAttempts: number,
  retryAfter: number | null,
  random: number,
): number | null {
  const scheduled = RETRY_DELAYS_MS[failedAttempts - 1]
  if (scheduled === undefined) return null
  return Math.round(
    Math.max(scheduled * (1 + JITTER * random), Math.min(retryAfter ?? 0, MAX_RETRY_AFTER_MS)),
  )
}

/** Milliseconds of a `retry-after` header, in seconds or as a date; null for none or nonsense. */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
