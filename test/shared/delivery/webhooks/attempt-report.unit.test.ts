import { expect, it } from 'vitest'
import { attemptReport } from '../../../../shared/delivery/webhooks/attempt-report.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'

const delivery = { clinic: 'c' as ClinicId, requestId: 'r' }
const response = (status: number) => ({ kind: 'responded' as const, status, retryAfter: null, latencyMs: 5 })
const failure = { kind: 'failed' as const, reason: 'timeout' as const, latencyMs: 5 }

it.each([
  [response(204), false, { outcome: 'delivered', status: 204, reason: null }],
  [response(301), false, { outcome: 'rejected', status: 301, reason: null }],
  [response(500), false, { outcome: 'rejected', status: 500, reason: null }],
  [failure, false, { outcome: 'unreachable', status: null, reason: 'timeout' }],
  [failure, true, { outcome: 'cut-off', status: null, reason: 'timeout' }],
])('reports %j, cut off: %j', (result, isCutOff, expected) => {
  expect(attemptReport(delivery, result as never, isCutOff)).toEqual({
    ...delivery,
    ...expected,
    latencyMs: 5,
  })
})
