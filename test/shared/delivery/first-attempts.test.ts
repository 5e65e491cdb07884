/** First attempts of one record's events to one endpoint: in the order of the events, at a constant cost for each message. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { deliverEvent } from '../../../shared/delivery/deliver-event.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { type Delivery, type DeliveryReference, newDelivery } from '../../../shared/domain/delivery.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import type { Webhook } from '../../../shared/domain/webhook.ts'
import { addOrderedDelivery, deliveryStore } from '../../../shared/store/events/deliveries.ts'
import { webhookStore } from '../../../shared/store/events/webhooks.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import { chunked } from '../../../shared/store/table/chunked.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { createWebhook, deliverySimulation, httpResponse } from '../../support/deliveries.ts'
import { rounds } from '../../support/scale.ts'
import { freshTable, newClinic, type TestTable } from '../../support/table.ts'

let db: TestTable
let clinic: Clinic
let webhook: Webhook

beforeAll(async () => {
  db = await freshTable()
})
beforeEach(async () => {
  clinic = await newClinic(db.table)
  webhook = await createWebhook(db.table, clinic.id)
})

/** Stores the deliveries of a record's first events. */
async function changesOfOneRecord(count: number): Promise<DeliveryReference[]> {
  const [record, now] = [newUuid(), Date.now()]
  const deliveries = Array.from({ length: count }, (_, index): Delivery => {
    const event = {
      ...{ id: newUuid(), event: 'patient.updated' as const, record, sequence: index + 1 },
      ...{ data: { id: record }, createdAt: new Date(now).toISOString() },
    }
    return newDelivery(event, clinic, { id: newUuid(), webhook: webhook.id, now })
  })
  for (const chunk of chunked(deliveries, 30)) {
    const changes = new Changeset(db.table, clinic.id)
    for (const delivery of chunk) addOrderedDelivery(changes, delivery)
    await changes.commit()
  }
  return deliveries.map(({ id }) => ({ clinic: clinic.id, webhook: webhook.id, delivery: id }))
}

/** A simulation that counts reads of the table. */
function countingSimulation() {
  const counts = { reads: 0 }
  const counted: Table = {
    ...db.table,
    getMany: (...parts) => {
      counts.reads++
      return db.table.getMany(...parts)
    },
    query: (...parts) => {
      counts.reads++
      return db.table.query(...parts)
    },
  }
  return { simulation: deliverySimulation(counted), counts }
}

const sequences = (simulation: ReturnType<typeof deliverySimulation>): number[] =>
  simulation.received.map(({ body }) => JSON.parse(body).sequence)

it('costs two reads and no message for each delivery that arrives early', async () => {
  const { simulation, counts } = countingSimulation()
  const [first, ...others] = await changesOfOneRecord(rounds(60, 1000))
  let finish = () => {}
  simulation.respond = () => new Promise((resolve) => (finish = () => resolve(httpResponse(200))))
  const attempt = deliverEvent(simulation.dependencies, first as DeliveryReference, 'quick')
  await expect.poll(() => simulation.received.length).toBe(1)
  counts.reads = 0
  for (const early of others) await deliverEvent(simulation.dependencies, early, 'quick')
  expect(counts.reads).toBe(2 * others.length)
  expect(simulation.queues).toEqual({ quick: [], slow: [] })
  simulation.respond = () => httpResponse(200)
  finish()
  await attempt
  await simulation.drain()
  expect(sequences(simulation)).toEqual([first, ...others].map((_, index) => index + 1))
})

it('makes first attempts in order, once each, when messages arrive in reverse', async () => {
  const { simulation } = countingSimulation()
  const deliveries = await changesOfOneRecord(12)
  await simulation.push('quick', deliveries.toReversed())
  await simulation.drain()
  expect(sequences(simulation)).toEqual(deliveries.map((_, index) => index + 1))
})

it('lets the next one follow a first attempt that fails, before its retry', async () => {
  const { simulation } = countingSimulation()
  const deliveries = await changesOfOneRecord(3)
  simulation.respond = () => httpResponse(500)
  await simulation.push('quick', deliveries.toReversed())
  await simulation.drain()
  expect(sequences(simulation)).toEqual([1, 2, 3])
})

it('ends waiting deliveries when the endpoint is disabled before the first attempt', async () => {
  const { simulation } = countingSimulation()
  const deliveries = await changesOfOneRecord(3)
  const [first, ...others] = deliveries as [DeliveryReference, ...DeliveryReference[]]
  for (const early of others) await deliverEvent(simulation.dependencies, early, 'quick')
  await webhookStore(db).change(clinic.id, webhook.id, (before) => ({ ...before, isActive: false }))
  await simulation.push('quick', [first])
  await simulation.drain()
  const stored = await deliveryStore(db).page(clinic.id, webhook.id, { limit: 100 }, Date.now())
  expect(stored?.items.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
  expect(simulation.received).toEqual([])
})

it('keeps a requested redelivery queued while an earlier event has had no attempt', async () => {
  const { simulation } = countingSimulation()
  const [first, second] = (await changesOfOneRecord(2)) as [DeliveryReference, DeliveryReference]
  const { change } = deliveryStore(db)
  await change(clinic.id, webhook.id, second.delivery, (before) => ({ ...before, status: 'failed' }))
  await change(clinic.id, webhook.id, second.delivery, (before) => ({
    ...before,
    ...{ status: 'pending', isManual: true },
  }))
  await deliverEvent(simulation.dependencies, second, 'quick')
  expect([simulation.received, simulation.queues.quick.length]).toEqual([[], 1])
  await simulation.push('quick', [first])
  await simulation.drain()
  simulation.now += 5000
  await simulation.drain()
  expect(sequences(simulation)).toEqual([1, 2])
})
