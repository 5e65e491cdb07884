/** The number of requests that a credential may make. */
export type RateLimit = { readonly perMinute: number; readonly perSecond: number }

/** A minute that a credential's requests are counted in, and a time within it. */
export type RateWindow = {
  /** Number of the minute since the epoch. */
  readonly number: number
  /** Whole seconds since the minute began, from 0 to 59. */
  readonly second: number
}

/** A credential's requests in the current minute and second, including this one. */
export type RequestCount = {
  readonly minute: number
  readonly second: number
  /** Whole seconds until the minute ends, at least 1. */
  readonly secondsLeft: number
}

export type RateVerdict = {
  readonly allowed: boolean
  /** The limit that the request was checked against. */
  readonly perMinute: number
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

/**
 * The minute of a credential at `now`, in milliseconds since the epoch. It begins at a second that the credential's key
 * decides: integrations that wait for their next minute would otherwise all continue at once.
 */
export function rateWindow(key: string, now: number): RateWindow {
  let offset = 0
  for (const character of key) offset = (offset * 31 + (character.codePointAt(0) ?? 0)) % 60
  const seconds = Math.floor(now / 1000) + offset
  return { number: Math.floor(seconds / 60), second: seconds % 60 }
}

export function checkRateLimit(count: RequestCount, limit: RateLimit): RateVerdict {
  const overMinute = count.minute > limit.perMinute
  const overSecond = count.second > limit.perSecond
  return {
    allowed: !overMinute && !overSecond,
    perMinute: limit.perMinute,
    remaining: Math.max(0, limit.perMinute - count.minute),
    resetSeconds: overSecond && !overMinute ? 1 : count.secondsLeft,
  }
}
