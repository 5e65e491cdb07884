/** Consumers, the sweep, redeliveries and failures of the store that meet at one delivery. */
import { beforeEach, expect, it } from 'vitest'
import { deliverEvent } from '../../../../shared/delivery/webhooks/deliver-event.ts'
import { sweepDeliveries } from '../../../../shared/delivery/webhooks/sweep-deliveries.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import type { DeliveryReference } from '../../../../shared/domain/webhooks/delivery.ts'
import { redelivered } from '../../../../shared/domain/webhooks/delivery-states.ts'
import type { Webhook } from '../../../../shared/domain/webhooks/webhook.ts'
import { deliveryStore } from '../../../../shared/store/events/deliveries.ts'
import { dueDeliveries } from '../../../../shared/store/events/due-deliveries.ts'
import { webhookStore } from '../../../../shared/store/events/webhooks.ts'
import {
  addChangesOfOneRecord,
  createWebhook,
  deliverySimulation,
  httpResponse,
} from '../../../support/deliveries.ts'
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

it('records a success although the endpoint is disabled and the message repeated during the attempt', async () => {
  const simulation = deliverySimulation(db.table)
  const [first] = await added(simulation)
  let finish = () => {}
  simulation.respond = () => new Promise((resolve) => (finish = () => resolve(httpResponse(200))))
  const attempt = deliverEvent(simulation.dependencies, first, 'quick')
  await expect.poll(() => simulation.received.length).toBe(1)
  await webhookStore(db).change(clinic.id, webhook.id, (before) => ({ ...before, isActive: false }))
  await deliverEvent(simulation.dependencies, first, 'quick')
  finish()
  await attempt
  const stored = await deliveryStore(db).find(clinic.id, webhook.id, first.delivery)
  expect(stored).toMatchObject({ status: 'delivered', attempts: [{ status: 200 }] })
})
