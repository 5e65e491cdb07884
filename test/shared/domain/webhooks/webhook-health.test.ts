import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  callSize,
  freeSlots,
  HEALTHY,
  hasToWait,
  isLimited,
  isReleased,
  isSlow,
  isTroubled,
  nextProbeAt,
  usesSlowLane,
  type WebhookHealth,
  waitingDelay,
} from '../../../../shared/domain/webhooks/webhook-health.ts'
import { anAttempt, attempts, healthAfter, UNPROVEN } from '../../../support/webhook-health.ts'

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
    const failing = (before: WebhookHealth, at: number) =>
      healthAfter(before, anAttempt({ result: 'failure', at, probeAt: nextProbeAt(before, 0, at) }))
    const four = [NOW, NOW + 1, NOW + 2, NOW + 3].reduce(failing, HEALTHY)
    expect(isTroubled(four)).toBe(false)
    const troubled = failing(four, NOW + 4)
    expect([isTroubled(troubled), troubled.probeAt, troubled.probes]).toEqual([true, NOW + 5004, 0])
    expect(troubled.failingSince).toBe(NOW)
    // A slow success is a success.
    const recovered = healthAfter(troubled, anAttempt({ result: 'success', isSlow: true }))
    expect([isTroubled(recovered), recovered.failingSince, recovered.probeAt]).toEqual([false, null, null])
  })
})

describe('the next attempt to a troubled receiver', () => {
  it.each([
    [0, 15_000],
    [1, 30_000],
    [2, 60_000],
    [3, 120_000],
    [4, 300_000],
    [5000, 300_000],
  ])('after %i of them is %s ms away, up to a tenth more at random', (probes, delay) => {
    const troubled = { ...HEALTHY, probes, probeAt: NOW - 1 }
    expect(nextProbeAt(troubled, 0, NOW)).toBe(NOW + delay)
    expect(nextProbeAt(troubled, 1, NOW)).toBe(NOW + delay * 1.1)
  })

  it('begins when an attempt fails that began after four failures, however many failed at the same time', () => {
    expect(nextProbeAt({ ...HEALTHY, failures: 3 }, 0, NOW)).toBe(null)
    expect(nextProbeAt({ ...HEALTHY, failures: 4 }, 0, NOW)).toBe(NOW + 5000)
    expect(nextProbeAt({ ...HEALTHY, failures: 40 }, 0, NOW)).toBe(NOW + 5000)
  })

  it('has one slot, from then on, or at once if it was requested', () => {
    const troubled = { ...HEALTHY, probeAt: NOW }
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

it('several deliveries are called after a trouble or the first success, otherwise one', () => {
  expect(callSize({ ...HEALTHY, probeAt: NOW }, HEALTHY)).toBe(10)
  expect(callSize(UNPROVEN, HEALTHY)).toBe(10)
  expect(callSize(UNPROVEN, { ...UNPROVEN, failures: 1 })).toBe(1)
  expect(callSize({ ...HEALTHY, failures: 4, slowAttempts: 9 }, HEALTHY)).toBe(1)
})

describe('a receiver without a success yet', () => {
  it('has one slot, and further deliveries wait while it is taken or one is queued', () => {
    expect(isLimited(UNPROVEN)).toBe(true)
    expect(freeSlots(UNPROVEN, false, NOW)).toEqual([0])
    expect(hasToWait(UNPROVEN, NOW)).toBe(false)
    expect(hasToWait({ ...UNPROVEN, slots: [NOW + 1, 0, 0] }, NOW)).toBe(true)
    expect(hasToWait({ ...UNPROVEN, queued: { delivery: 'd', until: NOW + 1 } }, NOW)).toBe(true)
    expect(hasToWait({ ...UNPROVEN, queued: { delivery: 'd', until: NOW } }, NOW)).toBe(false)
  })

  it('uses the slow lane after one attempt that was cut off', () => {
    expect(usesSlowLane(UNPROVEN)).toBe(false)
    const cutOff = healthAfter(UNPROVEN, anAttempt({ result: 'cut-off', isSlow: true }))
    expect([usesSlowLane(cutOff), isLimited(cutOff)]).toEqual([true, true])
  })

  it('is limited no longer after a success, quick or slow', () => {
    for (const isSlow of [false, true])
      expect(isLimited(healthAfter(UNPROVEN, anAttempt({ result: 'success', isSlow })))).toBe(false)
    const failed = healthAfter(UNPROVEN, anAttempt({ result: 'failure' }))
    expect([isLimited(failed), usesSlowLane(failed)]).toEqual([true, false])
  })

  it('releases a delivery that began to wait while the first success was recorded', () => {
    expect(isReleased(UNPROVEN, HEALTHY)).toBe(true)
    expect([
      isReleased(UNPROVEN, UNPROVEN),
      isReleased(HEALTHY, HEALTHY),
      isReleased(UNPROVEN, null),
    ]).toEqual([false, false, false])
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
