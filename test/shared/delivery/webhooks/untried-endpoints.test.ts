/** Deliveries to a new webhook, whose endpoint has not succeeded yet: one at a time. On the real engine. */
import { beforeEach, expect, it } from 'vitest'
import { deliverEvent } from '../../../../shared/delivery/webhooks/deliver-event.ts'
import type { AttemptResult } from '../../../../shared/delivery/webhooks/webhook-transport.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import type { Delivery, DeliveryReference } from '../../../../shared/domain/webhooks/delivery.ts'
import type { Webhook } from '../../../../shared/domain/webhooks/webhook.ts'
import { deliveryStore } from '../../../../shared/store/events/deliveries.ts'
import { eventFanOut } from '../../../../shared/store/events/fan-out.ts'
import { webhookHealthStore } from '../../../../shared/store/events/webhook-health.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { createNewWebhook, deliverySimulation, httpResponse } from '../../../support/deliveries.ts'
import { aPatient, freshTable, newClinic, type TestTable } from '../../../support/table.ts'
import { anAttempt, UNTRIED } from '../../../support/webhook-health.ts'

let db: TestTable
let clinic: Clinic
let webhook: Webhook

beforeEach(async () => {
  db = await freshTable()
  clinic = await newClinic(db.table)
  webhook = await createNewWebhook(db.table, clinic.id)
})

const HANGS: AttemptResult = { kind: 'failed', reason: 'timeout', latencyMs: 1000 }

/** Creates patients, each with an event, and returns the deliveries that their fan-outs push. */
async function createPatients(
  count: number,
  now: number,
  table: Table = db.table,
): Promise<DeliveryReference[]> {
  const pushed: DeliveryReference[] = []
  for (let n = 0; n < count; n++) {
    await patientWriter(db).createMany(clinic.id, [aPatient()])
    const fanOut = eventFanOut({ table, now: () => now, newId: newUuid })
    await fanOut.fanOut(clinic.id, async (created) => void pushed.push(...created))
  }
  return pushed
}

const deliveries = async (): Promise<readonly Delivery[]> =>
  (await deliveryStore(db).page(clinic.id, webhook.id, { limit: 100 }, Date.now()))?.items ?? []

const recordSuccess = () =>
  webhookHealthStore(db).record(clinic.id, webhook.id, anAttempt({ result: 'success' }))

it('queues one of many deliveries, of several transactions and of one', async () => {
  expect((await createPatients(12, Date.now())).length).toBe(1)
  const other = await createNewWebhook(db.table, clinic.id)
  await patientWriter(db).createMany(clinic.id, [aPatient(), aPatient(), aPatient()])
  const pushed: DeliveryReference[] = []
  const fanOut = eventFanOut({ table: db.table, now: Date.now, newId: newUuid })
  await fanOut.fanOut(clinic.id, async (created) => void pushed.push(...created))
  expect(pushed.map(({ webhook }) => webhook)).toEqual([other.id])
})

it('attempts one at a time while the endpoint hangs', async () => {
  const simulation = deliverySimulation(db.table, () => HANGS)
  await simulation.push('quick', await createPatients(12, simulation.now))
  await simulation.drain()
  // Cut off in the quick lane, then repeated in the slow lane, as are the next: after five failures it is tried later.
  expect(simulation.received.length).toBe(6)
})

it('attempts all without a delay after the first success', async () => {
  const simulation = deliverySimulation(db.table, () => httpResponse(200))
  await simulation.push('quick', await createPatients(30, simulation.now))
  await simulation.drain()
  expect(simulation.received.length).toBe(30)
  expect((await deliveries()).map(({ status }) => status)).toEqual(Array(30).fill('delivered'))
  expect((await createPatients(5, simulation.now)).length).toBe(5)
})

it('queues a delivery whose fan-out began to wait while the first success was recorded', async () => {
  const permit = { number: 0, until: Date.now() + 60_000 }
  await webhookHealthStore(db).takePermit(clinic.id, webhook.id, UNTRIED, permit)
  const table: Table = {
    ...db.table,
    tryTransact: async (writes) => {
      await db.table.tryTransact(writes)
      await recordSuccess()
    },
  }
  const [pushed, ...more] = await createPatients(1, Date.now(), table)
  expect([pushed?.webhook, more]).toEqual([webhook.id, []])
  expect((await deliveries()).map(({ waiting }) => waiting?.for)).toEqual(['called'])
})

it('queues a delivery again that was postponed while the first success was recorded', async () => {
  const simulation = deliverySimulation(db.table, () => httpResponse(200))
  const [queued] = (await createPatients(1, simulation.now)) as [DeliveryReference]
  const health = webhookHealthStore(db)
  const permit = { number: 0, until: simulation.now + 60_000 }
  await health.takePermit(clinic.id, webhook.id, UNTRIED, permit)
  const recordWaiting: typeof health.recordWaiting = async (...args) => {
    await recordSuccess()
    return health.recordWaiting(...args)
  }
  const consumer = { ...simulation.dependencies, health: { ...health, recordWaiting } }
  await deliverEvent(consumer, queued, 'quick')
  expect(simulation.queues.quick).toEqual([{ delivery: queued, at: simulation.now }])
  await simulation.drain()
  expect((await deliveries()).map(({ status }) => status)).toEqual(['delivered'])
})
