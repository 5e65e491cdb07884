import { describe, expect, it } from 'vitest'
import { checkRateLimit, rateLimitFor, rateWindow } from '../../../shared/domain/rate-limit.ts'

it.each([
  [1, 50],
  [300, 50],
  [301, 51],
  [600, 100],
  [60_000, 10_000],
])('rateLimitFor allows %i requests a minute and %i a second', (perMinute, perSecond) => {
  expect(rateLimitFor(perMinute)).toEqual({ perMinute, perSecond })
})

describe('checkRateLimit', () => {
  const limit = { perMinute: 100, perSecond: 50 }
  const check = (minute: number, second: number) => checkRateLimit({ minute, second, secondsLeft: 20 }, limit)

  it('allows the last request of a minute and of a second', () => {
    expect(check(100, 50)).toEqual({ allowed: true, perMinute: 100, remaining: 0, resetSeconds: 20 })
  })

  it('reports the requests that are left in the minute', () => {
    expect(check(1, 1)).toEqual({ allowed: true, perMinute: 100, remaining: 99, resetSeconds: 20 })
  })

  it('rejects requests over the minute until the minute ends', () => {
    expect(check(101, 1)).toEqual({ allowed: false, perMinute: 100, remaining: 0, resetSeconds: 20 })
  })

  it('rejects requests over the second for one second', () => {
    expect(check(60, 51)).toEqual({ allowed: false, perMinute: 100, remaining: 40, resetSeconds: 1 })
  })

  it('rejects requests over both until the minute ends', () => {
    expect(check(150, 51)).toEqual({ allowed: false, perMinute: 100, remaining: 0, resetSeconds: 20 })
  })
})

describe('rateWindow', () => {
  const at = (time: string) => Date.parse(`2026-05-01T${time}Z`)
  const FIRST = at('10:00:00') / 60_000

  it.each([
    // Keys whose minute begins with the clock's, and 59 and 14 seconds before it.
    ['<', '10:00:00.000', { number: FIRST, second: 0 }],
    ['<', '10:00:59.999', { number: FIRST, second: 59 }],
    [';', '10:00:00.999', { number: FIRST, second: 59 }],
    [';', '10:00:01.000', { number: FIRST + 1, second: 0 }],
    // 49 * 31 + 55 = 1574 = 26 * 60 + 14
    ['17', '10:00:45.999', { number: FIRST, second: 59 }],
    ['17', '10:00:46.000', { number: FIRST + 1, second: 0 }],
  ])('of key %s at %s', (key, time, expected) => {
    expect(rateWindow(key, at(time))).toEqual(expected)
  })

  it('begins at every second for some keys', () => {
    const keys = Array.from({ length: 2000 }, (_, n) => `ck_a_${(n * 7919).toString(36)}`)
    const seconds = keys.map((key) => rateWindow(key, at('10:00:00')).second)
    expect(new Set(seconds).size).toBe(60)
  })
})
