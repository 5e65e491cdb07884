import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  callSize,
  freePermits,
  HEALTHY,
  hasToWait,
  isLimited,
  isOpen,
  isReleased,
  isSlow,
  nextHalfOpenAt,
  usesSlowLane,
  type WebhookHealth,
  waitingDelay,
} from '../../../../shared/domain/webhooks/webhook-health.ts'
import { anAttempt, attempts, healthAfter, UNTRIED } from '../../../support/webhook-health.ts'

const NOW = Date.parse('2026-05-01T07:00:00Z')
const MINUTE = 60_000

describe('an endpoint', () => {
  it('is slow after three slow attempts, until a quick success', () => {
    const slow = attempts(
      HEALTHY,
      [1, 2, 3].map(() => anAttempt({ result: 'success', isSlow: true })),
    )
    expect([isSlow(slow), isLimited(slow), isOpen(slow)]).toEqual([true, true, false])
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

  it('opens after five failures without a success, and has failed since the first', () => {
    const failing = (before: WebhookHealth, at: number) =>
      healthAfter(before, anAttempt({ result: 'failure', at, halfOpenAt: nextHalfOpenAt(before, 0, at) }))
    const four = [NOW, NOW + 1, NOW + 2, NOW + 3].reduce(failing, HEALTHY)
    expect(isOpen(four)).toBe(false)
    const open = failing(four, NOW + 4)
    expect([isOpen(open), open.halfOpenAt, open.failedTrials]).toEqual([true, NOW + 5004, 0])
    expect(open.failingSince).toBe(NOW)
    // A slow success is a success.
    const recovered = healthAfter(open, anAttempt({ result: 'success', isSlow: true }))
    expect([isOpen(recovered), recovered.failingSince, recovered.halfOpenAt]).toEqual([false, null, null])
  })
})

describe('the next attempt of an open circuit', () => {
  it.each([
    [0, 15_000],
    [1, 30_000],
    [2, 60_000],
    [3, 120_000],
    [4, 300_000],
    [5000, 300_000],
  ])('after %i of them is %s ms away, up to a tenth more at random', (failedTrials, delay) => {
    const open = { ...HEALTHY, failedTrials, halfOpenAt: NOW - 1 }
    expect(nextHalfOpenAt(open, 0, NOW)).toBe(NOW + delay)
    expect(nextHalfOpenAt(open, 1, NOW)).toBe(NOW + delay * 1.1)
  })

  it('begins when an attempt fails that began after four failures, however many failed at the same time', () => {
    expect(nextHalfOpenAt({ ...HEALTHY, failures: 3 }, 0, NOW)).toBe(null)
    expect(nextHalfOpenAt({ ...HEALTHY, failures: 4 }, 0, NOW)).toBe(NOW + 5000)
    expect(nextHalfOpenAt({ ...HEALTHY, failures: 40 }, 0, NOW)).toBe(NOW + 5000)
  })

  it('has one permit, from then on, or at once if it was requested', () => {
    const open = { ...HEALTHY, halfOpenAt: NOW }
    expect(freePermits(open, false, NOW - 1)).toEqual([])
    expect(freePermits(open, true, NOW - 1)).toEqual([0])
    expect(freePermits(open, false, NOW)).toEqual([0])
    expect(freePermits({ ...open, permits: [NOW + 1, 0, 0] }, true, NOW)).toEqual([])
  })
})

it('a slow endpoint has one permit until an attempt succeeds, then three, free after their leases', () => {
  const cutOffs = attempts(
    HEALTHY,
    [1, 2, 3].map(() => anAttempt({ result: 'cut-off', isSlow: true })),
  )
  expect(freePermits(cutOffs, false, NOW)).toEqual([0])
  const slow = healthAfter(cutOffs, anAttempt({ result: 'success', isSlow: true }))
  expect(freePermits(healthAfter(slow, anAttempt({ result: 'failure' })), false, NOW)).toEqual([0])
  expect(freePermits(slow, false, NOW)).toEqual([0, 1, 2])
  expect(freePermits({ ...slow, permits: [NOW, NOW + 1, 0] }, false, NOW)).toEqual([0, 2])
})

it('several deliveries are called after a trouble or the first success, otherwise one', () => {
  expect(callSize({ ...HEALTHY, halfOpenAt: NOW }, HEALTHY)).toBe(10)
  expect(callSize(UNTRIED, HEALTHY)).toBe(10)
  expect(callSize(UNTRIED, { ...UNTRIED, failures: 1 })).toBe(1)
  expect(callSize({ ...HEALTHY, failures: 4, slowAttempts: 9 }, HEALTHY)).toBe(1)
})

describe('an endpoint without a success yet', () => {
  it('has one permit, and further deliveries wait while it is taken or one is queued', () => {
    expect(isLimited(UNTRIED)).toBe(true)
    expect(freePermits(UNTRIED, false, NOW)).toEqual([0])
    expect(hasToWait(UNTRIED, NOW)).toBe(false)
    expect(hasToWait({ ...UNTRIED, permits: [NOW + 1, 0, 0] }, NOW)).toBe(true)
    expect(hasToWait({ ...UNTRIED, queued: { delivery: 'd', until: NOW + 1 } }, NOW)).toBe(true)
    expect(hasToWait({ ...UNTRIED, queued: { delivery: 'd', until: NOW } }, NOW)).toBe(false)
  })

  it('uses the slow lane after one attempt that was cut off', () => {
    expect(usesSlowLane(UNTRIED)).toBe(false)
    const cutOff = healthAfter(UNTRIED, anAttempt({ result: 'cut-off', isSlow: true }))
    expect([usesSlowLane(cutOff), isLimited(cutOff)]).toEqual([true, true])
  })

  it('is limited no longer after a success, quick or slow', () => {
    for (const isSlow of [false, true])
      expect(isLimited(healthAfter(UNTRIED, anAttempt({ result: 'success', isSlow })))).toBe(false)
    const failed = healthAfter(UNTRIED, anAttempt({ result: 'failure' }))
    expect([isLimited(failed), usesSlowLane(failed)]).toEqual([true, false])
  })

  it('releases a delivery that began to wait while the first success was recorded', () => {
    expect(isReleased(UNTRIED, HEALTHY)).toBe(true)
    expect([isReleased(UNTRIED, UNTRIED), isReleased(HEALTHY, HEALTHY), isReleased(UNTRIED, null)]).toEqual([
      false,
      false,
      false,
    ])
  })
})

it('a delivery that waits is looked at after 15 s, then after three times as long, at least every six hours', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 * 60 * MINUTE }), (age) => {
      const expected = Math.max(15_000, Math.min(3 * age, 6 * 60 * MINUTE))
      expect(waitingDelay(age)).toBe(expected)
    }),
  )
})
