/** Fan-out to endpoints that hang or fail, on the real engine. */
import { beforeAll, expect, it } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import type { DeliveryReference } from '../../../../shared/domain/webhooks/delivery.ts'
import type { AttemptHealth } from '../../../../shared/domain/webhooks/webhook-health.ts'
import { deliveryStore } from '../../../../shared/store/events/deliveries.ts'
import { deliveryAttempts } from '../../../../shared/store/events/delivery-attempts.ts'
import { eventFanOut } from '../../../../shared/store/events/fan-out.ts'
import { webhookHealthStore } from '../../../../shared/store/events/webhook-health.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { aPatient, newClinic, tableOfFile } from '../../../support/table.ts'
import { anAttempt } from '../../../support/webhook-health.ts'

const db = tableOfFile()
let clinic: Clinic
beforeAll(async () => {
  clinic = await newClinic(db.table)
})

const NOW = Date.parse('2026-05-01T07:00:00Z')

/** A webhook whose endpoint had these attempts. */
async function webhookAfter(...all: AttemptHealth[]): Promise<string> {
  const { id } = await createWebhook(db.table, clinic.id)
  for (const attempt of all) await webhookHealthStore(db).record(clinic.id, id, attempt)
  return id
}

it('queues no delivery to an endpoint that takes none, which waits to be called', async () => {
  const failures = Array(5).fill(anAttempt({ result: 'failure', at: NOW - 1000 }))
  const cutOffs = Array(3).fill(anAttempt({ result: 'cut-off', isSlow: true }))
  const slow = anAttempt({ result: 'success', isSlow: true })
  const well = await webhookAfter()
  const open = await webhookAfter(...failures, anAttempt({ result: 'failure', halfOpenAt: NOW + 1 }))
  const due = await webhookAfter(...failures, anAttempt({ result: 'failure', halfOpenAt: NOW }))
  const hanging = await webhookAfter(...cutOffs)
  const queued = { delivery: newUuid(), until: NOW + 1 }
  const found = (await deliveryHealth(hanging)) as NonNullable<Awaited<ReturnType<typeof deliveryHealth>>>
  await webhookHealthStore(db).recordQueued(clinic.id, hanging, found, queued)
  const responding = await webhookAfter(...cutOffs, slow)

  await patientWriter(db).createMany(clinic.id, [aPatient()])
  const pushed: DeliveryReference[] = []
  const fan = eventFanOut({ table: db.table, now: () => NOW, newId: newUuid })
  await fan.fanOut(clinic.id, async (made) => void pushed.push(...made))

  expect(pushed.map(({ webhook }) => webhook).sort()).toEqual([well, due, responding].sort())
  const { waiting } = deliveryAttempts(db)
  for (const webhook of [open, hanging]) {
    const [delivery] = (await deliveryStore(db).page(clinic.id, webhook, { limit: 9 }, NOW))?.items ?? []
    expect(delivery).toMatchObject({
      status: 'pending',
      attempts: [],
      waiting: { for: 'turn', since: NOW, retryAt: null },
      nextAt: NOW + 15_000,
    })
    expect(await waiting(clinic.id, webhook, 9)).toEqual([{ id: delivery?.id, waitsFor: 'turn' }])
    expect((await deliveryHealth(webhook))?.waitingSince).toBe(NOW)
  }
  expect(await waiting(clinic.id, well, 9)).toEqual([])
})

/** The health of a webhook after one more attempt that was cut off. */
async function deliveryHealth(webhook: string) {
  return webhookHealthStore(db).record(clinic.id, webhook, anAttempt({ result: 'cut-off', isSlow: true }))
}
