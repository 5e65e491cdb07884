import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Attempt,
  abandoned,
  afterAttempt,
  type Delivery,
  LEASE_MS,
  MAX_QUEUE_DELAY_MS,
  RETENTION_SECONDS,
  redelivered,
  SWEEP_MARGIN_MS,
} from '../../../shared/domain/delivery.ts'
import { nextRetryDelay, RETRY_DELAYS_MS } from '../../../shared/domain/webhook.ts'
import { property } from '../../support/scale.ts'

const NOW = Date.parse('2026-05-01T07:00:00Z')
const MOST_ATTEMPTS = 20

const made: Delivery = {
  id: '6d0e2a7c-0000-4000-8000-000000000001',
  webhook: '6d0e2a7c-0000-4000-8000-000000000002',
  eventId: 'evt_6d0e2a7c-0000-4000-8000-000000000003',
  event: 'patient.created',
  record: '6d0e2a7c-0000-4000-8000-000000000004',
  sequence: 1,
  body: '{"id":"evt_6d0e2a7c-0000-4000-8000-000000000003"}',
  status: 'pending',
  attempts: [],
  failedAttempts: 0,
  nextAt: NOW,
  dueAt: NOW + SWEEP_MARGIN_MS,
  claim: null,
  isManual: false,
  createdAt: NOW,
}
const claim = { token: 't', until: NOW + LEASE_MS }
const attempt: Attempt = { at: '2026-05-01T07:00:00.000Z', status: 500, error: null, latencyMs: 120 }
const claimed = { ...made, claim }

describe('an attempt', () => {
  it('that arrives ends it, whatever wait is left', () => {
    for (const wait of [null, 5000]) {
      const after = afterAttempt(claimed, { ...attempt, status: 200 }, true, wait)
      expect(after).toEqual({
        ...made,
        status: 'delivered',
        attempts: [{ ...attempt, status: 200 }],
        nextAt: null,
        dueAt: null,
      })
    }
  })

  it('that fails is followed by another after the wait, counted from its end', () => {
    expect(afterAttempt(claimed, attempt, false, 5000)).toEqual({
      ...made,
      attempts: [attempt],
      failedAttempts: 1,
      nextAt: NOW + 120 + 5000,
      dueAt: NOW + 120 + 5000 + SWEEP_MARGIN_MS,
    })
  })

  it('that fails for the last time ends it', () => {
    expect(afterAttempt(claimed, attempt, false, null)).toEqual({
      ...made,
      status: 'failed',
      attempts: [attempt],
      failedAttempts: 1,
      nextAt: null,
      dueAt: null,
    })
  })

  it.each([
    [1, SWEEP_MARGIN_MS],
    [MAX_QUEUE_DELAY_MS - 1, SWEEP_MARGIN_MS],
    [MAX_QUEUE_DELAY_MS, SWEEP_MARGIN_MS],
    // What waits longer than a queue can hold it is the sweep's to bring.
    [MAX_QUEUE_DELAY_MS + 1, 0],
    [24 * 3_600_000, 0],
  ])('to be followed after %i ms is swept %i ms after that', (wait, margin) => {
    const { nextAt, dueAt } = afterAttempt(claimed, attempt, false, wait)
    expect((dueAt ?? 0) - (nextAt ?? 0)).toBe(margin)
  })

  it('is kept with the latest others', () => {
    let delivery = made
    for (let n = 1; n <= MOST_ATTEMPTS + 5; n++)
      delivery = afterAttempt(delivery, { ...attempt, latencyMs: n }, false, 5000)
    expect(delivery.attempts.map(({ latencyMs }) => latencyMs)).toEqual(
      Array.from({ length: MOST_ATTEMPTS }, (_, n) => n + 6),
    )
    expect(delivery.failedAttempts).toBe(MOST_ATTEMPTS + 5)
  })
})

it('given up, it has failed without an attempt', () => {
  const before = { ...claimed, attempts: [attempt], failedAttempts: 1 }
  expect(abandoned(before)).toEqual({ ...before, status: 'failed', nextAt: null, dueAt: null, claim: null })
})

it.each(['delivered', 'failed', 'pending'] as const)(
  'asked for again after it was %s, it begins anew and keeps what was',
  (status) => {
    const before = { ...claimed, status, attempts: [attempt], failedAttempts: 7, nextAt: null, dueAt: null }
    expect(redelivered(before, NOW + 1)).toEqual({
      ...before,
      status: 'pending',
      failedAttempts: 0,
      nextAt: NOW + 1,
      dueAt: NOW + 1 + SWEEP_MARGIN_MS,
      claim: null,
      isManual: true,
    })
  },
)

describe('whatever happens to it', () => {
  type Step = (delivery: Delivery, now: number) => Delivery
  const steps: fc.Arbitrary<Step> = fc
    .oneof(
      { weight: 6, arbitrary: fc.tuple(fc.boolean(), fc.double({ min: 0, max: 1, noNaN: true })) },
      { weight: 1, arbitrary: fc.constantFrom('given up', 'asked again') },
    )
    .map((step): Step => {
      if (step === 'given up') return abandoned
      if (step === 'asked again') return redelivered
      const [isDelivered, random] = step as [boolean, number]
      return (delivery, now) => {
        const made = { ...attempt, at: new Date(now).toISOString() }
        const wait = isDelivered ? null : nextRetryDelay(delivery.failedAttempts + 1, null, random)
        return afterAttempt({ ...delivery, claim }, made, isDelivered, wait)
      }
    })

  it('it is pending while it is to be tried, due not before, unclaimed, and the same event', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 40 }), (all) => {
        let delivery = made
        all.forEach((step, n) => {
          const now = NOW + n * 1000
          const attempts = delivery.attempts.length
          delivery = step(delivery, now)
          const { status, nextAt, dueAt } = delivery
          expect(status === 'pending').toBe(nextAt !== null)
          expect(nextAt === null).toBe(dueAt === null)
          expect(dueAt ?? 0).toBeGreaterThanOrEqual(nextAt ?? 0)
          if (nextAt !== null) expect(nextAt).toBeGreaterThanOrEqual(now)
          expect(delivery.claim).toBeNull()
          expect(delivery.attempts.length).toBeGreaterThanOrEqual(attempts)
          expect(delivery.attempts.length).toBeLessThanOrEqual(MOST_ATTEMPTS)
          const { id, webhook, eventId, event, record, sequence, body, createdAt } = delivery
          expect({ ...made, id, webhook, eventId, event, record, sequence, body, createdAt }).toEqual(made)
        })
      }),
      property(300, 20_000),
    )
  })

  it('it is failed after as many failures as the schedule has, and one, and not before', () => {
    let delivery = made
    for (let n = 0; n <= RETRY_DELAYS_MS.length; n++) {
      expect(delivery.status).toBe('pending')
      delivery = afterAttempt(delivery, attempt, false, nextRetryDelay(delivery.failedAttempts + 1, null, 0))
    }
    expect(delivery).toMatchObject({ status: 'failed', failedAttempts: RETRY_DELAYS_MS.length + 1 })
  })
})

it('is kept for longer than its schedule takes, and claimed for longer than an attempt does', () => {
  const schedule = RETRY_DELAYS_MS.reduce((sum, wait) => sum + wait * 1.1 + 15_000, 0)
  expect(RETENTION_SECONDS * 1000).toBeGreaterThan(2 * schedule)
  expect(LEASE_MS).toBeGreaterThan(2 * 15_000)
})
