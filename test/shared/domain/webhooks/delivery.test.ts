import { expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import {
  DELIVERY_LEASE_MS,
  isRetained,
  newDelivery,
  RETENTION_SECONDS,
  SWEEP_MARGIN_MS,
} from '../../../../shared/domain/webhooks/delivery.ts'
import { RETRY_DELAYS_MS } from '../../../../shared/domain/webhooks/webhook.ts'
import { aDelivery } from '../../../support/sample-records.ts'

const NOW = Date.parse('2026-05-01T07:00:00Z')

const made = aDelivery(NOW, { dueAt: NOW + SWEEP_MARGIN_MS })
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
      source: null,
      request_id: null,
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

it('is retained for longer than its schedule takes, and claimed for longer than an attempt takes', () => {
  const schedule = RETRY_DELAYS_MS.reduce((sum, wait) => sum + wait * 1.1 + 15_000, 0)
  expect(RETENTION_SECONDS * 1000).toBeGreaterThan(2 * schedule)
  expect(DELIVERY_LEASE_MS).toBeGreaterThan(2 * 15_000)
})
