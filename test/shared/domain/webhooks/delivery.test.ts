import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import {
  abandoned,
  afterAttempt,
  DELIVERY_LEASE_MS,
  type Delivery,
  type DeliveryAttempt,
  isRetained,
  MAX_QUEUE_DELAY_MS,
  newDelivery,
  RETENTION_SECONDS,
  redelivered,
  SWEEP_MARGIN_MS,
} from '../../../../shared/domain/webhooks/delivery.ts'
import { nextRetryDelay, RETRY_DELAYS_MS } from '../../../../shared/domain/webhooks/webhook.ts'
import { property } from '../../../support/scale.ts'

const NOW = Date.parse('2026-05-01T07:00:00Z')
const MAX_STORED_ATTEMPTS = 20

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
  waiting: null,
  claim: null,
  isManual: false,
  createdAt: NOW,
}
const claim = { token: 't', until: NOW + DELIVERY_LEASE_MS }
const attempt: DeliveryAttempt = { at: '2026-05-01T07:00:00.000Z', status: 500, error: null, latencyMs: 120 }
const claimed = { ...made, claim }

it('is due now when it is new, with the payload of its event as its body', () => {
  const event = {
    id: '6d0e2a7c-0000-4000-8000-000000000003',
    event: 'patient.created',
    record: made.record,
    sequence: 7,
    data: { id: made.record },
    createdAt: '2026-05-01T06:59:59.000Z',
  } as const
  const clinic = { id: '6d0e2a7c-0000-4000-8000-000000000009' as ClinicId, timezone: 'Europe/Istanbul' }
  expect(newDelivery(event, clinic, { id: made.id, webhook: made.webhook, now: NOW })).toEqual({
    ...made,
    sequence: 7,
    body: JSON.stringify({
      id: 'evt_6d0e2a7c-0000-4000-8000-000000000003',
      event: 'patient.created',
      clinic_id: clinic.id,
      created_at: '2026-05-01T09:59:59+03:00',
      sequence: 7,
      data: { id: made.record },
    }),
  })
})

it.each([
  [-1, true],
  [0, true],
  [RETENTION_SECONDS * 1000 - 1, true],
  [RETENTION_SECONDS * 1000, false],
  [RETENTION_SECONDS * 1000 + 1, false],
])('%i ms after its creation it is retained: %j', (age, expected) => {
  expect(isRetained(made, NOW + age)).toBe(expected)
})

describe('an attempt', () => {
  it('that succeeds ends the delivery, whatever the retry delay is', () => {
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

  it('that fails is followed by another, the retry delay after its end', () => {
    expect(afterAttempt(claimed, attempt, false, 5000)).toEqual({
      ...made,
      attempts: [attempt],
      failedAttempts: 1,
      nextAt: NOW + 120 + 5000,
      dueAt: NOW + 120 + 5000 + SWEEP_MARGIN_MS,
    })
  })

  it('that fails without a retry delay ends the delivery as failed', () => {
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
    // The sweep queues deliveries that wait longer than a queue can delay them.
    [MAX_QUEUE_DELAY_MS + 1, 0],
    [24 * 3_600_000, 0],
  ])('with a retry delay of %i ms is followed by a sweep %i ms after the retry', (wait, margin) => {
    const { nextAt, dueAt } = afterAttempt(claimed, attempt, false, wait)
    expect((dueAt ?? 0) - (nextAt ?? 0)).toBe(margin)
  })

  it('is stored with the 19 attempts before it', () => {
    let delivery = made
    for (let n = 1; n <= MAX_STORED_ATTEMPTS + 5; n++)
      delivery = afterAttempt(delivery, { ...attempt, latencyMs: n }, false, 5000)
    expect(delivery.attempts.map(({ latencyMs }) => latencyMs)).toEqual(
      Array.from({ length: MAX_STORED_ATTEMPTS }, (_, n) => n + 6),
    )
    expect(delivery.failedAttempts).toBe(MAX_STORED_ATTEMPTS + 5)
  })
})

it('is failed without another attempt when it is abandoned', () => {
  const before = { ...claimed, attempts: [attempt], failedAttempts: 1 }
  expect(abandoned(before)).toEqual({ ...before, status: 'failed', nextAt: null, dueAt: null, claim: null })
})

it.each(['delivered', 'failed', 'pending'] as const)(
  'is due now with a new schedule and its earlier attempts when it is requested again as %s',
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

describe('after any sequence of changes', () => {
  type Step = (delivery: Delivery, now: number) => Delivery
  const steps: fc.Arbitrary<Step> = fc
    .oneof(
      { weight: 6, arbitrary: fc.tuple(fc.boolean(), fc.double({ min: 0, max: 1, noNaN: true })) },
      { weight: 1, arbitrary: fc.constantFrom('abandon', 'redeliver') },
    )
    .map((step): Step => {
      if (step === 'abandon') return abandoned
      if (step === 'redeliver') return redelivered
      const [isDelivered, random] = step as [boolean, number]
      return (delivery, now) => {
        const made = { ...attempt, at: new Date(now).toISOString() }
        const wait = isDelivered ? null : nextRetryDelay(delivery.failedAttempts + 1, null, random)
        return afterAttempt({ ...delivery, claim }, made, isDelivered, wait)
      }
    })

  it('a delivery is pending exactly while it has a next attempt, unclaimed, and of the same event', () => {
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
          expect(delivery.attempts.length).toBeLessThanOrEqual(MAX_STORED_ATTEMPTS)
          const { id, webhook, eventId, event, record, sequence, body, createdAt } = delivery
          expect({ ...made, id, webhook, eventId, event, record, sequence, body, createdAt }).toEqual(made)
        })
      }),
      property(300, 20_000),
    )
  })

  it('a delivery fails after one attempt more than the schedule has delays', () => {
    let delivery = made
    for (let n = 0; n <= RETRY_DELAYS_MS.length; n++) {
      expect(delivery.status).toBe('pending')
      delivery = afterAttempt(delivery, attempt, false, nextRetryDelay(delivery.failedAttempts + 1, null, 0))
    }
    expect(delivery).toMatchObject({ status: 'failed', failedAttempts: RETRY_DELAYS_MS.length + 1 })
  })
})

it('is retained for longer than its schedule takes, and claimed for longer than an attempt takes', () => {
  const schedule = RETRY_DELAYS_MS.reduce((sum, wait) => sum + wait * 1.1 + 15_000, 0)
  expect(RETENTION_SECONDS * 1000).toBeGreaterThan(2 * schedule)
  expect(DELIVERY_LEASE_MS).toBeGreaterThan(2 * 15_000)
})
