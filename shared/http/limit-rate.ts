import { ApiError } from '../api/errors.ts'
import type { Credential } from '../domain/credential.ts'
import { checkRateLimit, type RateVerdict, type RequestCount, rateLimitFor } from '../domain/rate-limit.ts'
import type { ApiRequest, Middleware } from './call.ts'
import { withTimeout } from './with-timeout.ts'

type RateLimitOptions = {
  readonly now: () => number
  /** Counts the request; its cost is one write. */
  readonly countRequest: (credential: Credential) => Promise<RequestCount>
  /** For credentials without a rate of their own. */
  readonly requestsPerMinute: number
}

/** A counter that takes longer does not count. */
const COUNT_TIMEOUT_MS = 500

/**
 * Limits a credential's rate. The count goes on beside a read's own work and is heard before its answer leaves; what
 * writes waits for it. A counter that fails lets everybody through: it must never take the API down.
 */
export function limitRate({ now, countRequest: count, requestsPerMinute }: RateLimitOptions): Middleware {
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
      verdicts.set(
        call,
        withTimeout(COUNT_TIMEOUT_MS, count(credential)).then(
          (counted) => counted && checkRateLimit(counted, rate, now()),
          () => null,
        ),
      )
      if (request.event.httpMethod !== 'GET') await applyVerdict(request)
    },
    after: applyVerdict,
    // A caller over its rate learns nothing else, whatever the later checks found.
    onError: (request) =>
      applyVerdict(request).catch((error: Error) => {
        request.error = error
      }),
  }
}
