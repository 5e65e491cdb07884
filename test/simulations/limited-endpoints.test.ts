/** Deliveries to endpoints that hang, fail or are slow: on the real engine, with a clock that the test advances. */
import { beforeEach, expect, it } from 'vitest'
import { deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import { sweepDeliveries } from '../../shared/delivery/webhooks/sweep-deliveries.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { type Delivery, redelivered } from '../../shared/domain/webhooks/delivery.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { deliveryStore } from '../../shared/store/events/deliveries.ts'
import { dueDeliveries } from '../../shared/store/events/due-deliveries.ts'
import { waitingDeliveriesPartition } from '../../shared/store/keys/webhooks.ts'
import {
  createWebhook,
  deliverySimulation,
  connectionFailure as failure,
  httpResponse,
  queueChanges,
} from '../support/deliveries.ts'
import { freshTable, newClinic, type TestTable } from '../support/table.ts'

let db: TestTable
let clinic: Clinic
let webhook: Webhook

beforeEach(async () => {
  // A sweep queues the deliveries of all clinics of a table.
  db = await freshTable()
  clinic = await newClinic(db.table)
  webhook = await createWebhook(db.table, clinic.id)
})

type Simulation = ReturnType<typeof deliverySimulation>

const MINUTE = 60_000
const _HOUR = 60 * MINUTE

const queue = (simulation: Simulation, ...records: number[]) =>
  queueChanges(db.table, { clinic, webhook }, simulation, records)

async function advance(simulation: Simulation, ms: number, step: number): Promise<void> {
  for (const end = simulation.now + ms; simulation.now < end; ) {
    simulation.now += step
    if (Math.floor(simulation.now / MINUTE) > Math.floor((simulation.now - step) / MINUTE))
      await sweepDeliveries({
        deliveries: dueDeliveries(db),
        queues: { push: simulation.push },
        now: () => simulation.now,
      })
    await simulation.drain()
  }
}

const deliveries = async (): Promise<readonly Delivery[]> =>
  (await deliveryStore(db).page(clinic.id, webhook.id, { limit: 100 }, Date.now()))?.items.toReversed() ?? []

const waitingRows = () =>
  db.table.query({ pk: waitingDeliveriesPartition(clinic.id, webhook.id), limit: 1000 })

const sequencesOf = (simulation: Simulation, record: string) =>
  simulation.received.map(({ body }) => JSON.parse(body)).filter(({ data }) => data.id === record)

it('an endpoint that only fails gets some thirty attempts in an hour, however many deliveries there are', async () => {
  const simulation = deliverySimulation(db.table, () => failure)
  for (let n = 0; n < 12; n++) {
    await queue(simulation, 1, 1, 1, 2)
    await advance(simulation, 5 * MINUTE, 5000)
  }
  // Five before the circuit opens, then one every five minutes at last.
  expect(simulation.received.length).toBeGreaterThan(12)
  expect(simulation.received.length).toBeLessThan(32)
  expect((await deliveries()).every(({ status }) => status === 'pending')).toBe(true)
})

it('delivers everything in order within minutes after the endpoint has recovered', async () => {
  let answer: typeof failure | ReturnType<typeof httpResponse> = failure
  const simulation = deliverySimulation(db.table, () => answer)
  for (let n = 0; n < 6; n++) {
    await queue(simulation, 1, 3, 6)
    await advance(simulation, 10 * MINUTE, 5000)
  }
  answer = httpResponse(200)
  const before = simulation.received.length
  await advance(simulation, 10 * MINUTE, 1000)
  const all = await deliveries()
  expect(all.map(({ status }) => status)).toEqual(Array(60).fill('delivered'))
  // Each is sent once after the recovery.
  expect(simulation.received.length - before).toBe(60)
  for (const record of new Set(all.map(({ record }) => record))) {
    const sequences = [...new Set(sequencesOf(simulation, record).map(({ sequence }) => sequence))]
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
  }
  expect(await waitingRows()).toEqual([])
})

it('messages do not multiply while an endpoint fails', async () => {
  const simulation = deliverySimulation(db.table, () => failure)
  await queue(simulation, 20, 20)
  const messages: number[] = []
  for (let n = 0; n < 30; n++) {
    await advance(simulation, 4 * MINUTE, 10_000)
    messages.push(simulation.queues.quick.length + simulation.queues.slow.length)
  }
  expect(Math.max(...messages)).toBeLessThanOrEqual(60)
  expect(messages.at(-1)).toBeLessThanOrEqual(5)
})

it('a requested delivery does not wait for the next attempt of an open circuit', async () => {
  let answer: typeof failure | ReturnType<typeof httpResponse> = failure
  const simulation = deliverySimulation(db.table, () => answer)
  const [first] = await queue(simulation, 1, 1, 1, 1, 1, 1, 1)
  await advance(simulation, 20 * MINUTE, 10_000)
  answer = httpResponse(200)
  const before = simulation.received.length
  const { change } = deliveryStore(db)
  await change(clinic.id, webhook.id, first?.delivery ?? '', (found) => redelivered(found, simulation.now))
  await simulation.push('quick', [first as NonNullable<typeof first>])
  await simulation.drain()
  // Its success releases the others.
  expect(simulation.received.length - before).toBe(7)
})

it('keeps a delay that the endpoint has requested when another delivery succeeds', async () => {
  let answer: typeof failure | ReturnType<typeof httpResponse> = failure
  const simulation = deliverySimulation(db.table, () => answer)
  await queue(simulation, 1, 1, 1, 1, 1)
  await simulation.drain()
  answer = httpResponse(503, '1800')
  await advance(simulation, 8000, 1000)
  const asked = simulation.received.length
  answer = httpResponse(200)
  const later = await queue(simulation, 1)
  const { change } = deliveryStore(db)
  await change(clinic.id, webhook.id, later[0]?.delivery ?? '', (found) => redelivered(found, simulation.now))
  await simulation.drain()
  const received = simulation.received.slice(asked)
  const delayed = (await deliveries()).filter(({ nextAt }) => (nextAt ?? 0) > simulation.now)
  expect(delayed.length).toBe(1)
  expect(received.length).toBe(5)
  await advance(simulation, 40 * MINUTE, MINUTE)
  expect((await deliveries()).every(({ status }) => status === 'delivered')).toBe(true)
})

it('one slow response does not make an endpoint slow; three do, until a quick one', async () => {
  const simulation = deliverySimulation(db.table, () => httpResponse(200, null, 2000))
  const lanes: string[] = []
  const { push } = simulation
  simulation.push = async (lane, ...rest) => {
    lanes.push(lane)
    return push(lane, ...rest)
  }
  simulation.dependencies = { ...simulation.dependencies, queues: { push: simulation.push } }
  await queue(simulation, 1, 1, 1)
  await simulation.drain()
  expect(lanes).toEqual(['quick', 'quick', 'quick'])
  simulation.respond = () => httpResponse(200, null, 10)
  await queue(simulation, 1, 1)
  await simulation.drain()
  // The first shows that the endpoint is quick again.
  expect(lanes.slice(3)).toEqual(['quick', 'quick', 'slow', 'slow'])
  await queue(simulation, 1)
  await simulation.drain()
  expect(lanes.slice(7)).toEqual(['quick'])
})

it('a response whose body takes long is slow', async () => {
  const simulation = deliverySimulation(db.table, () => {
    simulation.now += 1500
    return httpResponse(200)
  })
  await queue(simulation, 1, 1, 1, 1)
  await simulation.drain()
  const { readContext } = simulation.dependencies.deliveries
  const [first] = await deliveries()
  const context = await readContext(clinic.id, webhook.id, first?.id ?? '')
  expect(context?.health.slowAttempts).toBe(4)
})

it('a slow endpoint has three attempts at a time, and each success brings the next delivery', async () => {
  let open = 0
  let most = 0
  const simulation = deliverySimulation(db.table, () => httpResponse(200, null, 2000))
  await queue(simulation, 1, 1, 1)
  await simulation.drain()
  simulation.respond = async () => {
    most = Math.max(most, ++open)
    await new Promise((resolve) => setTimeout(resolve, 50))
    open--
    return httpResponse(200, null, 9000)
  }
  await queue(simulation, ...Array(30).fill(1))
  // Messages are consumed side by side. Time does not pass, so a delivery that waits comes only when it is released.
  for (let rest = simulation.queues.quick; rest.length > 0; ) {
    const { quick, slow } = simulation.queues
    const ready = [...quick, ...slow].filter(({ at }) => at <= simulation.now)
    const later = slow.filter(({ at }) => at > simulation.now)
    simulation.queues = { quick: quick.filter(({ at }) => at > simulation.now), slow: later }
    await Promise.all(ready.map(({ delivery }) => deliverEvent(simulation.dependencies, delivery, 'slow')))
    rest = [...simulation.queues.quick, ...simulation.queues.slow].filter(({ at }) => at <= simulation.now)
  }
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(3)
  expect((await deliveries()).every(({ status }) => status === 'delivered')).toBe(true)
})

it('after a crash in an attempt its permit is free again when its lease has ended', async () => {
  const simulation = deliverySimulation(db.table, () => failure)
  await queue(simulation, 1, 1, 1, 1, 1)
  await simulation.drain()
  await advance(simulation, 4000, 1000)
  simulation.respond = () => {
    throw new Error('the process ends')
  }
  await expect(advance(simulation, 3000, 1000)).rejects.toThrow('the process ends')
  const before = simulation.received.length
  simulation.respond = () => httpResponse(200)
  await advance(simulation, 30 * 1000, 1000)
  expect(simulation.received.length).toBe(before)
  await advance(simulation, 5 * MINUTE, 1000)
  expect((await deliveries()).every(({ status }) => status === 'delivered')).toBe(true)
})
