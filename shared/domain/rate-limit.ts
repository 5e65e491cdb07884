/** The number of requests that a credential may make. The specification (section 8) leaves the limits open. */
export type RateLimit = { readonly perMinute: number; readonly perSecond: number }

/** A credential's requests in the current minute and second, including this one. */
export type RequestCount = { readonly minute: number; readonly second: number }

export type RateVerdict = {
  readonly allowed: boolean
  /** Requests left in this minute. */
  readonly remaining: number
  /** Whole seconds until another request may succeed; if this one is allowed, until the minute ends. */
  readonly resetSeconds: number
}

/** A credential may make a sixth of its requests per minute in one second, and at least 50. */
export const rateLimitFor = (perMinute: number): RateLimit => ({
  perMinute,
  perSecond: Math.max(50, Math.ceil(perMinute / 6)),
})

/** Checks one request at `now`, in milliseconds since the epoch. */
export function checkRateLimit(count: RequestCount, limit: RateLimit, now: number): RateVerdict {
  const minuteEnds = 60 - (Math.floor(now / 1000) % 60)
  const overMinute = count.minute > limit.perMinute
  const overSecond = count.second > limit.perSecond
  return {
    allowed: !overMinute && !overSecond,
    remaining: Math.max(0, limit.perMinute - count.minute),
    resetSeconds: overSecond && !overMinute ? 1 : minuteEnds,
  }
}
