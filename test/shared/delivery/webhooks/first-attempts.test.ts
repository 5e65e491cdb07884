/** First attempts of one record's events to one endpoint: in the order of the events, at a constant cost for each message. */
import { beforeEach, expect, it } from 'vitest'
import { deliverEvent } from '../../../../shared/delivery/webhooks/deliver-event.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { type DeliveryReference, redelivered } from '../../../../shared/domain/webhooks/delivery.ts'
import type { Webhook } from '../../../../shared/domain/webhooks/webhook.ts'
import { deliveryStore } from '../../../../shared/store/events/deliveries.ts'
import { webhookStore } from '../../../../shared/store/events/webhooks.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import {
  addChangesOfOneRecord,
  connectionFailure,
  createWebhook,
  deliverySimulation,
  httpResponse,
  queueChanges,
} from '../../../support/deliveries.ts'
import { rounds } from '../../../support/scale.ts'
import { newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()
let clinic: Clinic
let webhook: Webhook

beforeEach(async () => {
  clinic = await newClinic(db.table)
  webhook = await createWebhook(db.table, clinic.id)
})

const changesOfOneRecord = (count: number) => addChangesOfOneRecord(db.table, clinic, webhook, count)

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

it.each(['waits', 'has ended without an attempt'])(
  'makes the first attempt of a redelivery that %s after the earlier one, with one message',
  async (state) => {
    const { simulation } = countingSimulation()
    const [first, second] = (await changesOfOneRecord(2)) as [DeliveryReference, DeliveryReference]
    const { change } = deliveryStore(db)
    if (state !== 'waits')
      await change(clinic.id, webhook.id, second.delivery, (before) => ({ ...before, status: 'failed' }))
    for (let request = 0; request < 3; request++) {
      await change(clinic.id, webhook.id, second.delivery, (before) => redelivered(before, simulation.now))
      await deliverEvent(simulation.dependencies, second, 'quick')
    }
    expect([simulation.received, simulation.queues]).toEqual([[], { quick: [], slow: [] }])
    await simulation.push('quick', [first])
    await simulation.drain()
    expect(sequences(simulation)).toEqual([1, 2])
  },
)

it('needs few messages for many changes that arrive in any order', async () => {
  const { simulation } = countingSimulation()
  const deliveries = await changesOfOneRecord(rounds(40, 400))
  let messages = 0
  const { push } = simulation.dependencies.queues
  const consumer = {
    ...simulation.dependencies,
    queues: {
      push: (...parts: Parameters<typeof push>) => {
        messages += parts[1].length
        return push(...parts)
      },
    },
  }
  const order = deliveries.map((one, index) => ({ one, at: (index * 7919) % deliveries.length }))
  await simulation.push(
    'quick',
    order.sort((a, b) => a.at - b.at).map(({ one }) => one),
  )
  for (let next = simulation.queues.quick.shift(); next; next = simulation.queues.quick.shift())
    await deliverEvent(consumer, next.delivery, 'quick')
  expect(sequences(simulation)).toEqual(deliveries.map((_, index) => index + 1))
  expect(messages).toBeLessThan(2 * deliveries.length)
})

it('tries a half-open circuit with the first event of a record when the second one arrives first', async () => {
  const { simulation } = countingSimulation()
  simulation.respond = () => connectionFailure
  await queueChanges(db.table, { clinic, webhook }, simulation, [1, 1, 1, 1, 1])
  await simulation.drain()
  const [first, second] = (await changesOfOneRecord(2)) as [DeliveryReference, DeliveryReference]
  await deliverEvent(simulation.dependencies, first, 'quick')
  simulation.respond = () => httpResponse(200)
  simulation.now += 5000
  simulation.queues = { quick: [{ delivery: second, at: simulation.now }], slow: [] }
  await simulation.drain()
  // Its success calls the delivery whose failure opened the circuit.
  expect(sequences(simulation).slice(5)).toEqual([1, 2, 1])
})
