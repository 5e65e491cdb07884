import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  freeSlots,
  HEALTHY,
  healthAfter,
  isLimited,
  isSlow,
  isTroubled,
  MAX_WAITING_AGE_MS,
  nextProbeAt,
  releaseSize,
  waitingDelay,
} from '../../../shared/domain/webhook-health.ts'
import { anAttempt, attempts } from '../../support/webhook-health.ts'

const NOW = Date.parse('2026-05-01T07:00:00Z')
const MINUTE = 60_000

describe('a receiver', () => {
  it('is slow after three slow attempts, until a quick success', () => {
    const slow = attempts(
      HEALTHY,
      [1, 2, 3].map(() => anAttempt({ result: 'success', isSlow: true })),
    )
    expect([isSlow(slow), isLimited(slow), isTroubled(slow)]).toEqual([true, true, false])
    expect(isSlow(healthAfter(slow, anAttempt({ result: 'success', isSlow: true })))).toBe(true)
    expect(isSlow(healthAfter(slow, anAttempt({ result: 'failure' })))).toBe(true)
    expect(healthAfter(slow, anAttempt({ result: 'success' }))).toEqual(HEALTHY)
  })

  it('is not slow after two attempts that were cut off', () => {
    expect(
      isSlow(
        attempts(
          HEALTHY,
          [1, 2].map(() => anAttempt({ result: 'cut-off', isSlow: true })),
        ),
      ),
    ).toBe(false)
  })

  it('is troubled after five failures without a success, and has failed since the first', () => {
    const failures = [0, 1, 2, 3, 4].map((n) => anAttempt({ result: 'failure', at: NOW + n }))
    expect(isTroubled(attempts(HEALTHY, failures.slice(1)))).toBe(false)
    const troubled = attempts(HEALTHY, failures)
    expect(isTroubled(troubled)).toBe(true)
    expect(troubled.failingSince).toBe(NOW)
    // A slow success is a success.
    const recovered = healthAfter(troubled, anAttempt({ result: 'success', isSlow: true }))
    expect([isTroubled(recovered), recovered.failingSince, recovered.probeAt]).toEqual([false, null, null])
  })
})

describe('the next attempt to a troubled receiver', () => {
  it.each([
    [3, null],
    [4, 5_000],
    [5, 15_000],
    [6, 30_000],
    [7, 60_000],
    [8, 120_000],
    [9, 300_000],
    [5000, 300_000],
  ])('after %i failures and another one is %s ms away', (failures, delay) => {
    const at = nextProbeAt({ ...HEALTHY, failures }, null, 0, NOW)
    expect(at).toBe(delay === null ? null : NOW + delay)
  })

  it('is up to a tenth later at random, and as late as the receiver requests, at most a day', () => {
    const health = { ...HEALTHY, failures: 9 }
    expect(nextProbeAt(health, null, 1, NOW)).toBe(NOW + 330_000)
    expect(nextProbeAt(health, 20 * MINUTE, 1, NOW)).toBe(NOW + 20 * MINUTE)
    expect(nextProbeAt(health, 99 * 24 * 60 * MINUTE, 1, NOW)).toBe(NOW + 24 * 60 * MINUTE)
  })

  it('has one slot, from then on, or at once if it was requested', () => {
    const troubled = { ...HEALTHY, failures: 5, probeAt: NOW }
    expect(freeSlots(troubled, false, NOW - 1)).toEqual([])
    expect(freeSlots(troubled, true, NOW - 1)).toEqual([0])
    expect(freeSlots(troubled, false, NOW)).toEqual([0])
    expect(freeSlots({ ...troubled, slots: [NOW + 1, 0, 0] }, true, NOW)).toEqual([])
  })
})

it('a slow receiver has one slot until an attempt succeeds, then three, free after their leases', () => {
  const cutOffs = attempts(
    HEALTHY,
    [1, 2, 3].map(() => anAttempt({ result: 'cut-off', isSlow: true })),
  )
  expect(freeSlots(cutOffs, false, NOW)).toEqual([0])
  const slow = healthAfter(cutOffs, anAttempt({ result: 'success', isSlow: true }))
  expect(freeSlots(healthAfter(slow, anAttempt({ result: 'failure' })), false, NOW)).toEqual([0])
  expect(freeSlots(slow, false, NOW)).toEqual([0, 1, 2])
  expect(freeSlots({ ...slow, slots: [NOW, NOW + 1, 0] }, false, NOW)).toEqual([0, 2])
})

it('several deliveries are released after a trouble, otherwise one', () => {
  expect(releaseSize({ ...HEALTHY, failures: 5 })).toBe(10)
  expect(releaseSize({ ...HEALTHY, failures: 4, slowAttempts: 9 })).toBe(1)
})

it('a delivery that waits is looked at after 15 s, then when its age has quadrupled, at least every six hours', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 * 60 * MINUTE }), (age) => {
      const expected = Math.max(15_000, Math.min(3 * age, 6 * 60 * MINUTE))
      expect(waitingDelay(age)).toBe(expected)
    }),
  )
  expect(MAX_WAITING_AGE_MS / (60 * MINUTE)).toBeCloseTo(83.15, 1)
})
