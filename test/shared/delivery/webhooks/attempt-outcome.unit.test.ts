import { expect, it } from 'vitest'
import { attemptReport, outcomeOf } from '../../../../shared/delivery/webhooks/attempt-outcome.ts'
import type { AttemptResult } from '../../../../shared/delivery/webhooks/webhook-transport.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { httpResponse } from '../../../support/deliveries.ts'

const NOW = Date.parse('2026-05-01T07:00:00Z')
const timeout: AttemptResult = { kind: 'failed', reason: 'timeout', latencyMs: 10 }
const tls: AttemptResult = { kind: 'failed', reason: 'tls', latencyMs: 10 }

it.each([
  [httpResponse(200), 'quick', 'delivered', 'delivered', null],
  [httpResponse(299), 'slow', 'delivered', 'delivered', null],
  [httpResponse(301), 'quick', 'failed', 'rejected', null],
  [httpResponse(410), 'quick', 'gone', 'rejected', null],
  [httpResponse(503, '120'), 'slow', 'failed', 'rejected', 120_000],
  [tls, 'quick', 'failed', 'unreachable', null],
  [timeout, 'quick', 'cut-off', 'cut-off', null],
  [timeout, 'slow', 'failed', 'unreachable', null],
] as const)(
  'of %j in the %s queue is %s, and reported as %s',
  (result, queue, kind, reported, retryAfter) => {
    const outcome = outcomeOf(result, queue, NOW, NOW)
    const [status, error] = result.kind === 'failed' ? [null, result.reason] : [result.status, null]
    const attempt = { at: '2026-05-01T07:00:00.000Z', status, error, latencyMs: 10 }
    expect(outcome).toEqual({ kind, attempt, retryAfter })
    const delivery = { clinic: 'c' as ClinicId, requestId: 'r' }
    const report = { outcome: reported, status, reason: error, latencyMs: 10 }
    expect(attemptReport(delivery, outcome)).toEqual({ ...delivery, ...report })
  },
)
