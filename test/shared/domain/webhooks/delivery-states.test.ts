import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  DELIVERY_LEASE_MS,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryQueue,
  MAX_QUEUE_DELAY_MS,
  type Outcome,
  SWEEP_MARGIN_MS,
} from '../../../../shared/domain/webhooks/delivery.ts'
import {
  afterAttempt,
  type DeliveryContext,
  nextStep,
  redelivered,
} from '../../../../shared/domain/webhooks/delivery-states.ts'
import { RETRY_DELAYS_MS, type Webhook } from '../../../../shared/domain/webhooks/webhook.ts'
import { HEALTHY } from '../../../../shared/domain/webhooks/webhook-health.ts'
import { aDelivery } from '../../../support/sample-records.ts'
import { property } from '../../../support/scale.ts'

const NOW = Date.parse('2026-05-01T07:00:00Z')

const made = aDelivery(NOW, { dueAt: NOW + SWEEP_MARGIN_MS })
const own = { token: 'own', until: NOW + DELIVERY_LEASE_MS }
const claimed = { ...made, claim: own }
const webhook = { id: made.webhook, isActive: true } as Webhook
const ended = { nextAt: null, dueAt: null, claim: null } as const
const failed = { ...made, ...ended, status: 'failed' } as const

describe('a message of a delivery', () => {
  const stepOf = (
    delivery: Partial<Delivery>,
    context: Partial<DeliveryContext> = {},
    queue: DeliveryQueue = 'quick',
  ) =>
    nextStep(
      { webhook, health: HEALTHY, isPaused: false, ...context, delivery: { ...made, ...delivery } },
      { queue, claim: own, now: NOW },
    )
  const IGNORE = { kind: 'ignore' }
  const queuedIn = (queue: DeliveryQueue, delayMs: number) => ({ kind: 'queue', queue, delayMs })
  const changed = (to: Partial<Delivery>) => ({ kind: 'change', after: { ...made, ...to } })
  const paused = { isPaused: true }
  const manual = { isManual: true }
  const attempted = { kind: 'attempt', after: claimed, webhook }
  const slow = { health: { ...HEALTHY, isSlow: true } }
  const disabled = { webhook: { ...webhook, isActive: false } }
  const early = (ms: number) => ({ nextAt: NOW + ms })
  const claimedUntil = (until: number, token = 'other') => ({ claim: { token, until } })

  it.each([
    ['that is due is claimed and attempted', {}, {}, 'quick', attempted],
    ['to a slow endpoint goes to the slow queue', {}, slow, 'quick', queuedIn('slow', 0)],
    ['to a slow endpoint is attempted in the slow queue', {}, slow, 'slow', attempted],
    ['to a quick endpoint is attempted in the slow queue', {}, {}, 'slow', attempted],
    ['that was delivered is ignored', { status: 'delivered', ...ended }, {}, 'quick', IGNORE],
    ['that has failed is ignored', failed, {}, 'quick', IGNORE],
    ['that is claimed is ignored', claimedUntil(NOW + 1), {}, 'quick', IGNORE],
    ['whose claim has expired is attempted', claimedUntil(NOW), {}, 'quick', attempted],
    ['that this consumer has claimed is attempted', claimedUntil(NOW + 1, 'own'), {}, 'quick', attempted],
    ['that is claimed is ignored, also if disabled', claimedUntil(NOW + 1), disabled, 'quick', IGNORE],
    ['to a disabled endpoint ends it', {}, disabled, 'quick', changed(failed)],
    ['to a deleted endpoint ends it', {}, { webhook: null }, 'quick', changed(failed)],
    [
      'that was requested is attempted although its endpoint is disabled',
      manual,
      disabled,
      'slow',
      { ...attempted, after: { ...claimed, isManual: true }, ...disabled },
    ],
    [
      'that was requested ends if its endpoint was deleted',
      manual,
      { webhook: null },
      'quick',
      changed({ ...failed, ...manual }),
    ],
    [
      'a second early is attempted',
      early(1000),
      {},
      'quick',
      { ...attempted, after: { ...claimed, ...early(1000) } },
    ],
    ['that arrives earlier is queued again', early(1001), {}, 'slow', queuedIn('slow', 1001)],
    ['that arrives a minute early is queued again', early(60_000), slow, 'quick', queuedIn('quick', 60_000)],
    ['that arrives still earlier is ignored', early(60_001), {}, 'quick', IGNORE],
    [
      'early to a disabled endpoint is queued again',
      early(60_000),
      disabled,
      'quick',
      queuedIn('quick', 60_000),
    ],
    ['early to a deleted endpoint is ignored', early(60_001), { webhook: null }, 'quick', IGNORE],
    ['of a paused clinic leaves it due', {}, paused, 'quick', changed({ dueAt: NOW })],
    ['of a paused clinic stays due', early(5), paused, 'quick', changed({ ...early(5), dueAt: NOW + 5 })],
    ['of a paused clinic is not later', { dueAt: NOW - 5 }, paused, 'quick', changed({ dueAt: NOW - 5 })],
  ] as const)('%s', (_, delivery, context, queue, expected) => {
    expect(stepOf(delivery as Partial<Delivery>, context, queue)).toEqual(expected)
  })
})

const attempt: DeliveryAttempt = { at: '2026-05-01T07:00:00.000Z', status: 500, error: null, latencyMs: 120 }
const outcome = (kind: Outcome['kind'], facts: Partial<Outcome> = {}): Outcome => ({
  kind,
  attempt,
  retryAfter: null,
  ...facts,
})
const FAILED = outcome('failed')

describe('an attempt', () => {
  it('that succeeds ends the delivery', () => {
    expect(afterAttempt(claimed, outcome('delivered'), 0)).toEqual({
      ...made,
      ...ended,
      status: 'delivered',
      attempts: [attempt],
    })
  })

  it.each(['gone', 'failed'] as const)(
    'that is %s ends the delivery as failed if no retry follows',
    (kind) => {
      const failedAttempts = kind === 'gone' ? 0 : RETRY_DELAYS_MS.length
      const before = { ...claimed, failedAttempts }
      expect(afterAttempt(before, outcome(kind), 0)).toEqual({
        ...failed,
        attempts: [attempt],
        failedAttempts: failedAttempts + 1,
      })
    },
  )

  it('that is cut off is not listed and uses up no retry', () => {
    expect(afterAttempt(claimed, outcome('cut-off'), 0)).toEqual(made)
  })

  it('that fails is followed by another, the retry delay after its end', () => {
    expect(afterAttempt(claimed, FAILED, 0)).toEqual({
      ...made,
      attempts: [attempt],
      failedAttempts: 1,
      nextAt: NOW + 120 + 5000,
    })
  })

  it.each([
    ['stays if it is after the retry', 0, null, 0],
    ['moves behind the retry if it is before it', 1, null, SWEEP_MARGIN_MS],
    ['moves behind the longest retry that a queue delays', 0, MAX_QUEUE_DELAY_MS, SWEEP_MARGIN_MS],
    ['moves to a retry that a queue cannot delay', 0, MAX_QUEUE_DELAY_MS + 1, 0],
    ['moves to a retry that a queue cannot delay', 2, null, 0],
  ])(
    'that fails: the due item %s (failures before: %i, requested delay: %j)',
    (what, failedAttempts, retryAfter, margin) => {
      const { nextAt, dueAt } = afterAttempt(
        { ...claimed, failedAttempts },
        outcome('failed', { retryAfter }),
        0,
      )
      const expected = what.startsWith('stays') ? claimed.dueAt : (nextAt as number) + margin
      expect(dueAt).toBe(expected)
    },
  )

  it('is stored with the 19 attempts before it', () => {
    let delivery = made
    for (let n = 1; n <= 25; n++)
      delivery = afterAttempt(
        { ...delivery, failedAttempts: 0 },
        outcome('failed', { attempt: { ...attempt, latencyMs: n } }),
        0,
      )
    expect(delivery.attempts.map(({ latencyMs }) => latencyMs)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 6),
    )
  })
})

it.each(['delivered', 'failed', 'pending'] as const)(
  'a delivery that is requested again as %s is due now with a new schedule and its earlier attempts',
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

it('after any sequence of changes, a delivery is pending exactly while it has a next attempt and a due item after it', () => {
  const anyStep = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom<Outcome['kind']>('delivered', 'failed', 'failed', 'cut-off', 'gone'),
    },
    { weight: 1, arbitrary: fc.constant('redeliver' as const) },
  )
  fc.assert(
    fc.property(
      fc.array(anyStep, { maxLength: 40 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (all, random) => {
        let delivery = made
        for (const step of all) {
          const now = (delivery.nextAt ?? delivery.createdAt) + 10
          const tried = { ...attempt, at: new Date(now).toISOString() }
          if (step === 'redeliver') delivery = redelivered(delivery, now)
          else if (delivery.status === 'pending')
            delivery = afterAttempt({ ...delivery, claim: own }, outcome(step, { attempt: tried }), random)
          const { status, nextAt, dueAt, claim } = delivery
          expect([status === 'pending', status === 'pending']).toEqual([nextAt !== null, dueAt !== null])
          expect(dueAt ?? 0).toBeGreaterThanOrEqual(nextAt ?? 0)
          // A lost message makes an attempt later by minutes.
          if (nextAt !== null && dueAt !== null) expect(dueAt - nextAt).toBeLessThanOrEqual(SWEEP_MARGIN_MS)
          expect(claim).toBeNull()
        }
        const { id, eventId, record, sequence, body, createdAt } = delivery
        expect({ ...made, id, eventId, record, sequence, body, createdAt }).toEqual(made)
      },
    ),
    property(300, 20_000),
  )
})
