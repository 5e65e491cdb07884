import { expect, it } from 'vitest'
import type { Outcome } from '../../../../shared/domain/webhooks/delivery.ts'
import { DISABLE_AFTER_MS } from '../../../../shared/domain/webhooks/webhook.ts'
import { disables, HEALTHY, healthAfter } from '../../../../shared/domain/webhooks/webhook-health.ts'

const NOW = Date.parse('2026-05-01T07:00:00Z')
const outcome = (kind: Outcome['kind']): Outcome => ({
  kind,
  attempt: { at: new Date(NOW).toISOString(), status: null, error: null, latencyMs: 0 },
  retryAfter: null,
})

it.each([
  ['delivered', 999, false],
  ['delivered', 1000, true],
  ['failed', 999, false],
  ['failed', 15_000, true],
  ['gone', 1, false],
  ['cut-off', 999, true],
] as const)('an endpoint after an attempt that %s and took %i ms is slow: %j', (kind, tookMs, isSlow) => {
  for (const before of [true, false])
    expect(healthAfter({ ...HEALTHY, isSlow: before }, outcome(kind), NOW, tookMs).isSlow).toBe(isSlow)
})

it.each([
  [null, 'delivered', null],
  [null, 'cut-off', null],
  [null, 'failed', NOW],
  [null, 'gone', NOW],
  [NOW - 5, 'failed', NOW - 5],
  [NOW - 5, 'cut-off', NOW - 5],
  [NOW - 5, 'delivered', null],
] as const)('an endpoint that failed since %j and then %s fails since %j', (failingSince, kind, expected) => {
  expect(healthAfter({ ...HEALTHY, failingSince }, outcome(kind), NOW, 1).failingSince).toBe(expected)
})

it.each([
  [null, 'gone', true],
  [null, 'failed', false],
  [DISABLE_AFTER_MS - 1, 'failed', false],
  [DISABLE_AFTER_MS, 'failed', true],
  [DISABLE_AFTER_MS, 'delivered', false],
  [DISABLE_AFTER_MS, 'cut-off', false],
] as const)(
  'after failures for %j ms, an attempt that %s disables the endpoint: %j',
  (ms, kind, expected) => {
    const failingSince = ms === null ? null : NOW - ms
    expect(disables({ ...HEALTHY, failingSince }, outcome(kind), NOW)).toBe(expected)
  },
)
