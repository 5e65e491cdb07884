/** The stored health of webhook endpoints, on the real engine. */
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import type { AttemptHealth } from '../../../../shared/domain/webhooks/webhook-health.ts'
import {
  excludePause,
  listWebhookHealth,
  webhookHealthStore,
} from '../../../../shared/store/events/webhook-health.ts'
import { createNewWebhook } from '../../../support/deliveries.ts'
import { property } from '../../../support/scale.ts'
import { newClinic, tableOfFile } from '../../../support/table.ts'
import { anAttempt, healthAfter, UNTRIED } from '../../../support/webhook-health.ts'

const db = tableOfFile()
let clinic: Clinic
beforeAll(async () => {
  clinic = await newClinic(db.table)
})

const anyAttempt: fc.Arbitrary<AttemptHealth> = fc.record({
  result: fc.constantFrom('success', 'failure', 'cut-off'),
  at: fc.integer({ min: 1, max: 1000 }),
  isSlow: fc.boolean(),
  halfOpenAt: fc.option(fc.integer({ min: 1, max: 1000 })),
  permit: fc.option(
    fc.record({ number: fc.integer({ min: 0, max: 2 }), until: fc.integer({ min: 1, max: 9 }) }),
  ),
  isWaiting: fc.boolean(),
})

it('changes with each attempt as the rules say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyAttempt, { maxLength: 12 }), async (all) => {
      const { id } = await createNewWebhook(db.table, clinic.id)
      const health = webhookHealthStore(db)
      let expected = UNTRIED
      for (const attempt of all) {
        const { permit } = attempt
        // Taken by this attempt, or by another one after its lease.
        const taken = permit && { ...permit, until: permit.until > 3 ? permit.until : 5000 }
        if (taken && (await health.takePermit(clinic.id, id, expected, taken)))
          expected = { ...expected, permits: expected.permits.with(taken.number, taken.until) }
        // A cut-off attempt is slow, and a success is not followed by an open circuit.
        const possible = {
          ...attempt,
          isSlow: attempt.isSlow || attempt.result === 'cut-off',
          halfOpenAt: attempt.result === 'failure' ? attempt.halfOpenAt : null,
        }
        expected = healthAfter(expected, possible)
        expect(await health.record(clinic.id, id, possible)).toEqual(expected)
      }
    }),
    property(20, 1000),
  )
}, 60_000)

it.each([
  ['before it', 2000, 5000],
  ['during it, of an attempt that had begun', 4500, 6000],
  ['never', null, null],
])('leaves a pause out of the time of failures when the first failure was %s', async (_, failed, moved) => {
  const clinic = await newClinic(db.table)
  const { id } = await createNewWebhook(db.table, clinic.id)
  const health = webhookHealthStore(db)
  const attempt = { isSlow: false, halfOpenAt: null, permit: null, isWaiting: false }
  if (failed) await health.record(clinic.id, id, { ...attempt, result: 'failure', at: failed })
  await excludePause(db.table, clinic.id, 3000, 6000)
  expect((await listWebhookHealth(db.table, clinic.id)).get(id)?.failingSince).toBe(moved)
})

it.each(['success', 'reset'])('reserves the slow queue for no delivery after a %s', async (by) => {
  const clinic = await newClinic(db.table)
  const { id } = await createNewWebhook(db.table, clinic.id)
  const health = webhookHealthStore(db)
  const read = async () => (await listWebhookHealth(db.table, clinic.id)).get(id)
  await health.recordQueued(clinic.id, id, UNTRIED, { delivery: newUuid(), until: 1000 })
  expect((await read())?.queued).not.toBeNull()
  if (by === 'reset') await health.reset(clinic.id, id)
  else await health.record(clinic.id, id, anAttempt({ result: 'success' }))
  expect((await read())?.queued).toBeNull()
})
