/** The commands about webhook endpoints. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import type { DeliveryReference as Reference } from '../../../../shared/domain/webhooks/delivery.ts'
import type { Webhook } from '../../../../shared/domain/webhooks/webhook.ts'
import { HEALTHY } from '../../../../shared/domain/webhooks/webhook-health.ts'
import { deliveryStore } from '../../../../shared/store/events/deliveries.ts'
import { webhookHealthStore } from '../../../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../../../shared/store/events/webhooks.ts'
import { addChangesOfOneRecord, createWebhook } from '../../../support/deliveries.ts'
import { deployedTable } from '../../../support/deployed-stack.ts'
import { newClinic } from '../../../support/table.ts'

const { db, run } = deployedTable()
let clinic: Clinic
let webhook: Webhook

beforeEach(async () => {
  clinic = await newClinic(db.table)
  webhook = await createWebhook(db.table, clinic.id)
})

describe('webhook health', () => {
  const at = (minute: number) => `2026-05-04T07:0${minute}:00.000Z`
  const failure = (minute: number, error: string | null, status: number | null = null) => ({
    at: at(minute),
    status,
    error,
    latencyMs: 15_000,
  })

  it('shows an endpoint without deliveries as healthy', async () => {
    const { printed } = await run('webhook', 'health', webhook.id, '--clinic', clinic.id)
    expect(printed.split('\n').map((line) => line.trim())).toEqual([
      `endpoint      ${webhook.id}`,
      'state         active, not slow',
      'failing since not failing',
      'next attempt  none',
      'last success  none',
      'last failure  none',
      '',
    ])
  })

  it.each([
    [true, false, '2026-05-04T10:09:00+03:00'],
    [false, false, null],
    [false, true, '2026-05-04T10:09:00+03:00'],
  ])('shows the next attempt if active is %j and requested %j: %j', async (isActive, isManual, expected) => {
    const [one] = (await addChangesOfOneRecord(db.table, clinic, webhook, 1)) as [Reference]
    const nextAt = Date.parse(at(9))
    await deliveryStore(db).change(clinic.id, webhook.id, one.delivery, (before) => ({
      ...before,
      isManual,
      nextAt,
    }))
    await webhookStore(db).change(clinic.id, webhook.id, (before) => ({ ...before, isActive }))
    const { printed } = await run('webhook', 'health', webhook.id, '--clinic', clinic.id, '--json')
    expect(JSON.parse(printed).data).toMatchObject({ is_active: isActive, next_attempt_at: expected })
  })

  it.each([
    ['connection_refused', null, 'connection refused'],
    ['certificate_expired', null, 'certificate expired'],
    ['timeout', null, 'timed out after 15 s'],
    [null, 500, 'responded 500'],
    ['unknown', null, 'unknown'],
  ])(
    'shows the last failure %j %j in words, and the last success of an older delivery',
    async (error, status, text) => {
      const [older, newer] = (await addChangesOfOneRecord(db.table, clinic, webhook, 2)) as [
        Reference,
        Reference,
      ]
      const { change } = deliveryStore(db)
      const setFacts = (one: Reference, facts: object) =>
        change(clinic.id, webhook.id, one.delivery, (before) => ({ ...before, ...facts }))
      const delivered = {
        status: 'delivered',
        nextAt: null,
        dueAt: null,
        attempts: [failure(1, 'dns'), failure(2, null, 204)],
      }
      await setFacts(older, delivered)
      const nextAt = Date.parse(at(9))
      await setFacts(newer, {
        nextAt,
        dueAt: nextAt,
        attempts: [failure(3, 'dns'), failure(4, error, status)],
      })
      await webhookHealthStore(db).record(clinic.id, webhook.id, HEALTHY, {
        isSlow: true,
        failingSince: Date.parse(at(3)),
      })
      const { printed } = await run('webhook', 'health', webhook.id, '--clinic', clinic.id, '--json')
      expect(JSON.parse(printed).data).toEqual({
        id: webhook.id,
        is_active: true,
        is_slow: true,
        failing_since: '2026-05-04T10:03:00+03:00',
        next_attempt_at: '2026-05-04T10:09:00+03:00',
        last_success: { at: '2026-05-04T10:02:00+03:00', outcome: 'responded 204' },
        last_failure: { at: '2026-05-04T10:04:00+03:00', outcome: text },
      })
    },
  )
})
