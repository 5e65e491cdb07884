import { ApiError } from '../api/errors.ts'
import type { Credential } from '../domain/credential.ts'
import { judge, type RateVerdict, type RequestCount, rateOf } from '../domain/request-rate.ts'
import type { ApiRequest, Link } from './call.ts'
import { within } from './within.ts'

type Parts = {
  readonly now: () => number
  /** Counts the request; its cost is one write. */
  readonly count: (credential: Credential) => Promise<RequestCount>
  /** For credentials without a rate of their own. */
  readonly requestsPerMinute: number
}

/** A counter that takes longer does not count. */
const COUNT_MS = 500

/**
 * Limits a credential's rate. The count goes on beside a read's own work and is heard before its answer leaves; what
 * writes waits for it. A counter that fails lets everybody through: it must never take the API down.
 */
export function limitRate({ now, count, requestsPerMinute }: Parts): Link {
  const verdicts = new WeakMap<object, Promise<RateVerdict | null>>()

  const settle = async ({ context: { call } }: ApiRequest): Promise<void> => {
    const verdict = await verdicts.get(call)
    if (!verdict) return
    const { perMinute } = rateOf(call.credential?.requestsPerMinute ?? requestsPerMinute)
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
      const rate = rateOf(credential.requestsPerMinute ?? requestsPerMinute)
      verdicts.set(
        call,
        within(COUNT_MS, count(credential)).then(
          (counted) => counted && judge(counted, rate, now()),
          () => null,
        ),
      )
      if (request.event.httpMethod !== 'GET') await settle(request)
    },
    after: settle,
    // A caller over its rate learns nothing else, whatever the later checks found.
    onError: (request) =>
      settle(request).catch((error: Error) => {
        request.error = error
      }),
  }
}
