import { ApiError } from '../api/errors.ts'
import type { Credential } from '../domain/credential.ts'
import {
  checkRateLimit,
  type RateLimit,
  type RateVerdict,
  type RequestCount,
  rateLimitFor,
} from '../domain/rate-limit.ts'
import type { ApiCall } from './call.ts'
import { remember } from './remember.ts'
import { withTimeout } from './with-timeout.ts'

/** The count, or `throttled` if DynamoDB rejects the write because the counter's item is too hot. */
export type CountOutcome = RequestCount | 'throttled'

export type RateLimitOptions = {
  /** Counts the request. Costs one write. */
  readonly countRequest: (credential: Credential) => Promise<CountOutcome>
  /** The limit of credentials without a limit of their own. */
  readonly requestsPerMinute: number
  /** Called for the first request of a credential in a minute: records that it was used. */
  readonly recordUse: (credential: Credential) => Promise<void>
  /** Called at most once a minute while requests cannot be counted. */
  readonly onUnlimited: (error: unknown) => void
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** If counting takes longer, the request is not limited. */
const COUNT_TIMEOUT_MS = 500

/** The verdict on a burst whose requests cannot be counted. */
const TOO_FAST = { allowed: false, remaining: 0, resetSeconds: 1 }

/**
 * Limits the request rate of a credential. For reads, counting runs alongside the request and is checked before the
 * response is sent; writes wait for it. Once a process has found a credential over its limit, it rejects all its requests
 * before any work until the limit allows one again. If counting fails, requests are not limited: the limiter must never take the
 * API down. If the counter is throttled, the requests seen by this process are counted instead.
 */
export function rateLimiter({
  countRequest,
  requestsPerMinute,
  recordUse,
  onUnlimited,
  now,
}: RateLimitOptions) {
  let reportedAt = Number.NEGATIVE_INFINITY
  const exhausted = exhaustedCredentials()
  const recent = recentRequests()

  function reportUnlimited(at: number, error: unknown): void {
    if (at < reportedAt + 60_000) return
    reportedAt = at
    onUnlimited(error)
  }

  /** Counts a request. A write waits for the verdict. @throws ApiError rate_limited */
  async function begin(call: ApiCall, credential: Credential, method: string): Promise<void> {
    const rate = rateLimitFor(credential.requestsPerMinute ?? requestsPerMinute)
    const known = exhausted.find(credential.key, rate, now())
    call.rateVerdict = known ? Promise.resolve(known) : decide(call, credential, rate)
    if (known || method !== 'GET') await applyVerdict(call)
  }

  async function decide(
    { backgroundWrites }: ApiCall,
    credential: Credential,
    rate: RateLimit,
  ): Promise<RateVerdict | null> {
    const at = now()
    const isBurst = recent.add(credential.key, rate.perSecond, at)
    const outcome = await withTimeout(COUNT_TIMEOUT_MS, countRequest(credential)).catch((error) => {
      reportUnlimited(at, error)
      return null
    })
    // A failed write must not fail the request.
    if (outcome !== 'throttled' && outcome?.minute === 1)
      backgroundWrites.push(recordUse(credential).catch(() => undefined))
    const verdict =
      outcome === 'throttled'
        ? isBurst && { ...TOO_FAST, perMinute: rate.perMinute }
        : outcome && checkRateLimit(outcome, rate)
    if (verdict && !verdict.allowed) exhausted.add(credential.key, at, verdict)
    return verdict || null
  }

  /** @throws ApiError rate_limited */
  async function applyVerdict({ rateVerdict, headers }: ApiCall): Promise<void> {
    const verdict = await rateVerdict
    if (!verdict) return
    headers['ratelimit-policy'] = `"default";q=${verdict.perMinute};w=60`
    headers.ratelimit = `"default";r=${verdict.remaining};t=${verdict.resetSeconds}`
    if (!verdict.allowed)
      throw new ApiError('rate_limited', { headers: { 'retry-after': String(verdict.resetSeconds) } })
  }

  return { begin, applyVerdict }
}

/** Credentials that are over their limit, as far as this process knows. */
function exhaustedCredentials() {
  const known = new Map<string, { readonly until: number; readonly verdict: RateVerdict }>()

  return {
    /** The verdict on another request at this time; null if it has to be counted. */
    find: (key: string, { perMinute }: RateLimit, at: number): RateVerdict | null => {
      const entry = known.get(key)
      const secondsLeft = entry ? Math.ceil((entry.until - at) / 1000) : 0
      // The operator may have changed the limit, or a local stack its clock.
      if (!entry || entry.verdict.perMinute !== perMinute || secondsLeft < 1 || secondsLeft > 60) return null
      return { ...entry.verdict, resetSeconds: secondsLeft }
    },
    /** Limits are counted in seconds of the clock. */
    add: (key: string, at: number, verdict: RateVerdict): void =>
      remember(known, key, { until: (Math.floor(at / 1000) + verdict.resetSeconds) * 1000, verdict }),
  }
}

/** The latest requests of credentials in this process. */
function recentRequests() {
  const times = new Map<string, number[]>()

  return {
    /** Adds a request. Whether the last second had more than the burst of the credential. */
    add: (key: string, burst: number, at: number): boolean => {
      const latest = [...(times.get(key) ?? []), at].slice(-(burst + 1))
      remember(times, key, latest)
      return latest.length > burst && at - (latest[0] ?? 0) < 1000
    },
  }
}
