/** The stored health of webhook endpoints, on the real engine. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { HEALTHY, type WebhookHealth } from '../../../../shared/domain/webhooks/webhook-health.ts'
import {
  excludePause,
  listWebhookHealth,
  webhookHealthStore,
} from '../../../../shared/store/events/webhook-health.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { property } from '../../../support/scale.ts'
import { newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

it('is what was recorded last, without a write if nothing changed', async () => {
  const clinic = await newClinic(db.table)
  const { id } = await createWebhook(db.table, clinic.id)
  let updates = 0
  const table: typeof db.table = {
    ...db.table,
    update: async (...args) => {
      updates++
      return db.table.update(...args)
    },
  }
  const { record } = webhookHealthStore({ table })
  const anyHealth = fc.record({
    isSlow: fc.boolean(),
    failingSince: fc.option(fc.constant(1000)),
  })
  let before: WebhookHealth = HEALTHY
  await fc.assert(
    fc.asyncProperty(anyHealth, async (after) => {
      updates = 0
      await record(clinic.id, id, before, after)
      expect((await listWebhookHealth(table, clinic.id)).get(id)).toEqual(after)
      expect(updates).toBe(JSON.stringify(before) === JSON.stringify(after) ? 0 : 1)
      before = after
    }),
    property(30, 1000),
  )
})

it('keeps the time of the first of two failures that end at the same time', async () => {
  const clinic = await newClinic(db.table)
  const { id } = await createWebhook(db.table, clinic.id)
  const { record } = webhookHealthStore(db)
  for (const at of [1000, 2000]) await record(clinic.id, id, HEALTHY, { ...HEALTHY, failingSince: at })
  expect((await listWebhookHealth(db.table, clinic.id)).get(id)?.failingSince).toBe(1000)
})

it.each([
  ['before it', 2000, 5000],
  ['during it, of an attempt that had begun', 4500, 6000],
  ['never', null, null],
])('leaves a pause out of the time of failures when the first failure was %s', async (_, failed, moved) => {
  const clinic = await newClinic(db.table)
  const { record } = webhookHealthStore(db)
  const { id } = await createWebhook(db.table, clinic.id)
  if (failed) await record(clinic.id, id, HEALTHY, { ...HEALTHY, failingSince: failed })
  // The operator repeats a command that failed before the pause ended.
  for (const until of [6000, 6500]) await excludePause(db.table, clinic.id, 3000, until)
  expect((await listWebhookHealth(db.table, clinic.id)).get(id)?.failingSince).toBe(moved)
})
