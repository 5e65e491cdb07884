import { inLaterSecond } from '../timestamp.ts'
import { type EventName, PING } from './event.ts'

/** A URL of an integrator that receives events. Instants are ISO 8601. */
export type Webhook = {
  readonly id: string
  readonly url: string
  readonly events: readonly EventName[]
  readonly isActive: boolean
  readonly description: string | null
  readonly secret: string
  /** Numbers the secrets of this webhook from 1. */
  readonly secretNumber: number
  /** The secrets before it, newest first. Each also signs until its `until`, so that the endpoint can switch. */
  readonly previousSecrets: readonly PreviousSecret[]
  /** The key of the credential that created it. */
  readonly createdBy: string
  readonly createdAt: string
  readonly updatedAt: string
}

type PreviousSecret = { readonly secret: string; readonly until: string }

/** The limit for one clinic. */
export const MAX_WEBHOOKS = 20

/** How long the previous secret also signs after a rotation. */
export const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1000

/** A webhook whose attempts have all failed for this long is disabled. */
export const DISABLE_AFTER_MS = 5 * 24 * 60 * 60 * 1000

/** The most previous secrets that sign: each is one more signature in every delivery. */
export const MAX_PREVIOUS_SECRETS = 3

/** The secrets that sign at `now`, the current one first. */
export const signingSecrets = ({ secret, previousSecrets }: Webhook, now: number): string[] => [
  secret,
  ...stillSigning(previousSecrets, now).map((previous) => previous.secret),
]

const stillSigning = (secrets: readonly PreviousSecret[], now: number): PreviousSecret[] =>
  secrets.filter(({ until }) => now < Date.parse(until))

/**
 * The webhook with a new secret. Every secret that it replaces signs until the overlap that was promised for it ends; null
 * if more than {@link MAX_PREVIOUS_SECRETS} would. A webhook that already has the secret does not change.
 */
export function withNewSecret(webhook: Webhook, secret: string, now: number): Webhook | null {
  if (secret === webhook.secret) return webhook
  const replaced = { secret: webhook.secret, until: new Date(now + SECRET_OVERLAP_MS).toISOString() }
  const earlier = stillSigning(webhook.previousSecrets, now).filter((previous) => previous.secret !== secret)
  if (earlier.length >= MAX_PREVIOUS_SECRETS) return null
  return {
    ...webhook,
    secret,
    secretNumber: webhook.secretNumber + 1,
    previousSecrets: [replaced, ...earlier],
    updatedAt: inLaterSecond(webhook.updatedAt, new Date(now).toISOString()),
  }
}

/** Milliseconds from `now` until the first of the previous secrets that still sign ends; Infinity if none signs. */
export const nextSecretEnd = ({ previousSecrets }: Webhook, now: number): number =>
  Math.min(...stillSigning(previousSecrets, now).map(({ until }) => Date.parse(until))) - now

/** Whether a webhook receives an event. An active webhook always receives a ping. */
export const isSubscribedTo = ({ isActive, events }: Webhook, event: EventName): boolean =>
  isActive && (event === PING || events.includes(event))

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The delays before the second and later attempts; three days in total. */
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

/** The largest share of a delay that is added at random, so that retries to endpoints that failed together spread out. */
export const JITTER = 0.1

/** An endpoint may request a longer delay than scheduled, up to this one. */
const MAX_RETRY_AFTER_MS = 24 * HOUR

/**
 * Milliseconds until the next attempt after `failedAttempts` (from 1); null if there is none. `retryAfter` is the delay
 * in milliseconds that the endpoint requested; `random` is a number from 0 to 1.
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

/** Parses a `retry-after` header (seconds or a date) into milliseconds; null if it is missing or malformed. */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^\d+$/.test(header.trim())) return Number(header) * SECOND
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
