import { describe, expect, it } from 'vitest'
import { checkRateLimit, rateLimitFor } from '../../../shared/domain/rate-limit.ts'

describe('rateLimitFor', () => {
  it.each([
    [1, 50],
    [300, 50],
    [301, 51],
    [600, 100],
    [60_000, 10_000],
  ])('allows %i requests a minute and %i a second', (perMinute, perSecond) => {
    expect(rateLimitFor(perMinute)).toEqual({ perMinute, perSecond })
  })
})

describe('checkRateLimit', () => {
  const limit = { perMinute: 100, perSecond: 50 }
  const AT_40_SECONDS = Date.parse('2026-05-01T10:00:40.999Z')
  const check = (minute: number, second: number, now = AT_40_SECONDS) =>
    checkRateLimit({ minute, second }, limit, now)

  it('allows the last request of a minute and of a second', () => {
    expect(check(100, 50)).toEqual({ allowed: true, remaining: 0, resetSeconds: 20 })
  })

  it('reports the requests that are left in the minute', () => {
    expect(check(1, 1)).toEqual({ allowed: true, remaining: 99, resetSeconds: 20 })
  })

  it('refuses requests over the minute until the minute ends', () => {
    expect(check(101, 1)).toEqual({ allowed: false, remaining: 0, resetSeconds: 20 })
  })

  it('refuses requests over the second for one second', () => {
    expect(check(60, 51)).toEqual({ allowed: false, remaining: 40, resetSeconds: 1 })
  })

  it('refuses requests over both until the minute ends', () => {
    expect(check(150, 51)).toEqual({ allowed: false, remaining: 0, resetSeconds: 20 })
  })

  it.each([
    ['10:00:00.000', 60],
    ['10:00:00.999', 60],
    ['10:00:01.000', 59],
    ['10:00:59.999', 1],
  ])('at %s, the minute ends in %i seconds', (time, resetSeconds) => {
    expect(check(1, 1, Date.parse(`2026-05-01T${time}Z`)).resetSeconds).toBe(resetSeconds)
  })
})
