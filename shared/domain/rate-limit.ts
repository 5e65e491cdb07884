/** How many requests a credential may make (spec section 8: rate limits are not shown; these are ours). */
export type RateLimit = { readonly perMinute: number; readonly perSecond: number }

/** A credential's requests in the current minute and second, this one included. */
export type RequestCount = { readonly minute: number; readonly second: number }

export type RateVerdict = {
  readonly allowed: boolean
  /** Requests left in this minute. */
  readonly remaining: number
  /** Whole seconds until it is worth trying again; when allowed, until the minute ends. */
  readonly resetSeconds: number
}

/** A sixth of the minute's requests may come in one second, and always at least 50. */
export const rateLimitFor = (perMinute: number): RateLimit => ({
  perMinute,
  perSecond: Math.max(50, Math.ceil(perMinute / 6)),
})

/** Judges one request at `now`, milliseconds since the epoch. */
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
