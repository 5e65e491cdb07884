import { ApiError } from '../api/errors.ts'
import type { Credential } from '../domain/credential.ts'
import { checkRateLimit, type RateVerdict, type RequestCount, rateLimitFor } from '../domain/rate-limit.ts'
import type { ApiRequest, Middleware } from './call.ts'
import { withTimeout } from './with-timeout.ts'

type RateLimitOptions = {
  /** Counts the request. Costs one write. */
  readonly countRequest: (credential: Credential) => Promise<RequestCount>
  /** The limit of credentials without a limit of their own. */
  readonly requestsPerMinute: number
}

/** If counting takes longer, the request is not limited. */
const COUNT_TIMEOUT_MS = 500

/**
 * Limits the request rate of a credential. For reads, counting runs alongside the request and is checked before the
 * response is sent; writes wait for it. If counting fails, requests are not limited: the limiter must never take the
 * API down.
 */
export function limitRate({ countRequest: count, requestsPerMinute }: RateLimitOptions): Middleware {
  const verdicts = new WeakMap<object, Promise<RateVerdict | null>>()

  const applyVerdict = async ({ context: { call } }: ApiRequest): Promise<void> => {
    const verdict = await verdicts.get(call)
    if (!verdict) return
    const { perMinute } = rateLimitFor(call.credential?.requestsPerMinute ?? requestsPerMinute)
    call.headers['ratelimit-policy'] = `"default";q=${perMinute};w=60`
    call.headers.ratelimit = `"default";r=${verdict.remaining};t=${verdict.resetSeconds}`
    if (!verdict.allowed) {
      throw new ApiError('rate_limited', { headers: { 'retry-after': String(verdict.resetSeconds) } })
    }
  }

  return {
    before: async (request) => {
      const { call } = request.context
      const { credential } = call
      if (!credential) return
      const rate = rateLimitFor(credential.requestsPerMinute ?? requestsPerMinute)
      call.requestCount = withTimeout(COUNT_TIMEOUT_MS, count(credential)).catch(() => null)
      verdicts.set(
        call,
        call.requestCount.then((counted) => counted && checkRateLimit(counted, rate)),
      )
      if (request.event.httpMethod !== 'GET') await applyVerdict(request)
    },
    after: applyVerdict,
    // The 429 replaces the error of any later check.
    onError: (request) =>
      applyVerdict(request).catch((error: Error) => {
        request.error = error
      }),
  }
}

/**
 * Records when a credential was last used, alongside the request's own work. Only the first request that is counted in a
 * minute does, so that the others cost nothing more.
 */
export function recordUse(record: (credential: Credential) => Promise<void>): Middleware {
  return {
    before: ({ context: { call } }) => {
      const { credential, requestCount } = call
      if (!credential || !requestCount) return
      const recorded = requestCount.then((count) => (count?.minute === 1 ? record(credential) : undefined))
      // A failed write must not fail the request.
      call.backgroundWrites.push(recorded.catch(() => undefined))
    },
  }
}
