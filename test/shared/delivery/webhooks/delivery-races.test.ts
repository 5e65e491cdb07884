/** Consumers, the sweep, redeliveries and failures of the store that meet at one delivery. */
import { beforeEach, expect, it } from 'vitest'
import { deliverEvent } from '../../../../shared/delivery/webhooks/deliver-event.ts'
import { sweepDeliveries } from '../../../../shared/delivery/webhooks/sweep-deliveries.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import type { DeliveryReference } from '../../../../shared/domain/webhooks/delivery.ts'
import { redelivered } from '../../../../shared/domain/webhooks/delivery-states.ts'
import { DISABLE_AFTER_MS, type Webhook } from '../../../../shared/domain/webhooks/webhook.ts'
import { HEALTHY } from '../../../../shared/domain/webhooks/webhook-health.ts'
import { deliveryStore } from '../../../../shared/store/events/deliveries.ts'
import { dueDeliveries } from '../../../../shared/store/events/due-deliveries.ts'
import { webhookHealthStore } from '../../../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../../../shared/store/events/webhooks.ts'
import { dueDeliveryKey } from '../../../../shared/store/keys/webhooks.ts'
import {
  addChangesOfOneRecord,
  createWebhook,
  deliverySimulation,
  httpResponse,
} from '../../../support/deliveries.ts'
import { interruptedTable } from '../../../support/intercepted-table.ts'
import { newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()
let clinic: Clinic
let webhook: Webhook

beforeEach(async () => {
  clinic = await newClinic(db.table)
  webhook = await createWebhook(db.table, clinic.id)
})

type Simulation = ReturnType<typeof deliverySimulation>
type Deliveries = Simulation['dependencies']['deliveries']

const sequences = ({ received }: Simulation): number[] =>
  received.map(({ body }) => JSON.parse(body).sequence)

const added = (simulation: Simulation, count = 2) =>
  addChangesOfOneRecord(db.table, clinic, webhook, count, simulation.now) as Promise<
    [DeliveryReference, DeliveryReference]
  >

/** A consumer some of whose calls of the store differ. */
const withDeliveries = ({ dependencies }: Simulation, changed: Partial<Deliveries>) => ({
  ...dependencies,
  deliveries: { ...dependencies.deliveries, ...changed },
})

it.each([0, 5])(
  'attempts everything that a sweep queues, by consumers that start %i ms later',
  async (ms) => {
    const simulation = deliverySimulation(db.table)
    for (let record = 0; record < 20; record++) await added(simulation, 1)
    simulation.now += 3 * 60_000
    const due = dueDeliveries(db)
    const consumers: Promise<void>[] = []
    await sweepDeliveries({
      deliveries: {
        ...due,
        dueBatches: async function* (...parts) {
          for await (const batch of due.dueBatches(...parts))
            yield batch.filter((one) => one.clinic === clinic.id)
        },
      },
      queues: {
        push: async (lane, queued) => {
          for (const one of queued)
            consumers.push(
              new Promise((resolve) => setTimeout(resolve, ms)).then(() =>
                deliverEvent(simulation.dependencies, one, lane),
              ),
            )
        },
      },
      now: () => simulation.now,
    })
    await Promise.all(consumers)
    expect(simulation.received.length).toBe(20)
  },
)

it('keeps a redelivery that is requested while the delivery ends because the endpoint is disabled', async () => {
  const simulation = deliverySimulation(db.table)
  const [first] = await added(simulation)
  await webhookStore(db).change(clinic.id, webhook.id, (before) => ({ ...before, isActive: false }))
  const { change } = simulation.dependencies.deliveries
  let isRequested = false
  const consumer = withDeliveries(simulation, {
    change: async (...parts) => {
      if (!isRequested)
        await change(clinic.id, webhook.id, first.delivery, (before) => redelivered(before, simulation.now))
      isRequested = true
      return change(...parts)
    },
  })
  await deliverEvent(consumer, first, 'quick')
  await simulation.push('quick', [first])
  await simulation.drain()
  expect(sequences(simulation)).toEqual([1])
})

const changeWebhook = (changed: Partial<Webhook>) =>
  webhookStore(db).change(clinic.id, webhook.id, (before) => ({
    ...before,
    ...changed,
    updatedAt: new Date(Date.parse(before.updatedAt) + 1000).toISOString(),
  }))

it.each<[string, number, (simulation: Simulation, other: DeliveryReference) => Promise<unknown>]>([
  ['another attempt succeeds', 503, ({ dependencies }, other) => deliverEvent(dependencies, other, 'quick')],
  ['a person enables it', 503, () => changeWebhook({ isActive: true })],
  ['its URL is replaced', 410, () => changeWebhook({ url: 'https://new.example.com/' })],
])('leaves an endpoint enabled if %s during an attempt that ends with %i', async (_, status, meanwhile) => {
  const simulation = deliverySimulation(db.table)
  const [first, other] = await added(simulation)
  const failingSince = simulation.now - DISABLE_AFTER_MS
  await webhookHealthStore(db).record(clinic.id, webhook.id, HEALTHY, { isSlow: false, failingSince })
  let finish = () => {}
  simulation.respond = () => new Promise((resolve) => (finish = () => resolve(httpResponse(status))))
  const attempt = deliverEvent(simulation.dependencies, first, 'quick')
  await expect.poll(() => simulation.received.length).toBe(1)
  simulation.respond = () => httpResponse(200)
  await meanwhile(simulation, other)
  finish()
  await attempt
  expect(await webhookStore(db).find(clinic.id, webhook.id)).toMatchObject({ isActive: true })
})

it('leaves an endpoint enabled if its last failure five days ago overlapped a success, and counts from the new one', async () => {
  const simulation = deliverySimulation(db.table)
  const [failing, other] = await added(simulation)
  let finish = () => {}
  simulation.respond = () => new Promise((resolve) => (finish = () => resolve(httpResponse(503))))
  const failure = deliverEvent(simulation.dependencies, failing, 'quick')
  await expect.poll(() => simulation.received.length).toBe(1)
  simulation.respond = () => httpResponse(200)
  await deliverEvent(simulation.dependencies, other, 'quick')
  finish()
  await failure

  simulation.respond = () => httpResponse(503)
  for (const isActive of [true, false]) {
    simulation.now += DISABLE_AFTER_MS
    const [later] = await added(simulation)
    await deliverEvent(simulation.dependencies, later, 'quick')
    expect(await webhookStore(db).find(clinic.id, webhook.id)).toMatchObject({ isActive })
  }
})

it('removes the due item of no delivery that is due then, also if it is moved back meanwhile', async () => {
  const [{ webhook: id, delivery }] = await added(deliverySimulation(db.table), 1)
  const { change, find } = dueDeliveries(db)
  const at = (await find(clinic.id, id, delivery))?.dueAt as number
  const move = (dueAt: number) => change(clinic.id, id, delivery, (before) => ({ ...before, dueAt }))
  const due = { clinic: clinic.id, webhook: id, id: delivery, at }
  await dueDeliveries(db).removeDue(due)
  expect(await db.table.get(dueDeliveryKey(due))).toBeDefined()
  await move(at + 1)
  await dueDeliveries({ table: interruptedTable(db.table, () => move(at)) }).removeDue(due)
  expect(await db.table.get(dueDeliveryKey(due))).toBeDefined()
  await move(at + 1)
  await db.table.putMany([dueDeliveryKey(due)])
  await dueDeliveries(db).removeDue(due)
  expect(await db.table.get(dueDeliveryKey(due))).toBeUndefined()
})

it('disables an endpoint with 410 although its consumer ends before it records the outcome', async () => {
  const simulation = deliverySimulation(db.table, () => httpResponse(410))
  const [first] = await added(simulation)
  const { change } = simulation.dependencies.deliveries
  const crashing = withDeliveries(simulation, {
    change: (...parts) =>
      simulation.received.length > 0 ? Promise.reject(new Error('crash')) : change(...parts),
  })
  await expect(deliverEvent(crashing, first, 'quick')).rejects.toThrow('crash')
  expect(await webhookStore(db).find(clinic.id, webhook.id)).toMatchObject({ isActive: false })
})

it('lists an attempt during which a redelivery is requested, which stays due', async () => {
  const simulation = deliverySimulation(db.table)
  const [{ delivery }] = await added(simulation)
  const { change } = deliveryStore(db)
  simulation.respond = async () => {
    await change(clinic.id, webhook.id, delivery, (before) => redelivered(before, simulation.now))
    return httpResponse(200)
  }
  await deliverEvent(simulation.dependencies, { clinic: clinic.id, webhook: webhook.id, delivery }, 'quick')
  const stored = await deliveryStore(db).find(clinic.id, webhook.id, delivery)
  expect(stored).toMatchObject({ status: 'pending', isManual: true, attempts: [{ status: 200 }] })
})
