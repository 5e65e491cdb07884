/** Deliveries on the real engine, with a receiver that does as the test says and a clock that the test moves. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { deliverEvent } from '../../../shared/delivery/deliver-event.ts'
import { sweepDeliveries } from '../../../shared/delivery/sweep-deliveries.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import type { Delivery } from '../../../shared/domain/delivery.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { DISABLE_AFTER_MS, JITTER, RETRY_DELAYS_MS, type Webhook } from '../../../shared/domain/webhook.ts'
import { deliveryStore } from '../../../shared/store/events/deliveries.ts'
import { dueDeliveries } from '../../../shared/store/events/due-deliveries.ts'
import { eventFanOut } from '../../../shared/store/events/fan-out.ts'
import { webhookStore } from '../../../shared/store/events/webhooks.ts'
import { patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { createWebhook, deliverySimulation, httpResponse } from '../../support/deliveries.ts'
import { rounds } from '../../support/scale.ts'
import { aPatient, freshTable, newClinic, type TestTable } from '../../support/table.ts'

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

type World = ReturnType<typeof deliverySimulation>

async function happen(world: World, events = 1): Promise<void> {
  await patientWriter(db).createMany(
    clinic.id,
    Array.from({ length: events }, () => aPatient()),
  )
  const fan = eventFanOut({ table: db.table, now: () => world.now, newId: newUuid })
  await fan.fanOut(clinic.id, (made) => world.push('quick', made))
}

const deliveries = async ({ id } = webhook): Promise<readonly Delivery[]> =>
  (await deliveryStore(db).page(clinic.id, id, { limit: 100 }, Date.now()))?.items ?? []

const sweep = (world: World) =>
  sweepDeliveries({ deliveries: dueDeliveries(db), queues: { push: world.push }, now: () => world.now })

/** Moves the clock on, a minute at a time, with the sweep of every minute. */
async function pass(world: World, ms: number, step = 60_000): Promise<void> {
  const end = world.now + ms
  while (world.now < end) {
    world.now += Math.min(step, end - world.now)
    await sweep(world)
    await world.drain()
  }
}

it('delivers an event, and notes the attempt', async () => {
  const world = deliverySimulation(db.table)
  await happen(world)
  await world.drain()
  expect(world.received).toMatchObject([{ url: webhook.url }])
  expect(await deliveries()).toMatchObject([
    {
      status: 'delivered',
      attempts: [{ status: 200, error: null, latencyMs: 10 }],
      nextAt: null,
      dueAt: null,
      claim: null,
    },
  ])
})

describe('a receiver that fails', () => {
  it('k times is tried as the schedule says, with the same id and body and a fresh timestamp, until it works', async () => {
    for (const k of rounds(0, 1) ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1, 3, 9]) {
      clinic = await newClinic(db.table)
      webhook = await createWebhook(db.table, clinic.id)
      const world = deliverySimulation(db.table, () => httpResponse(world.received.length <= k ? 500 : 200))
      world.random = Math.random
      await happen(world)
      await world.drain()
      // Minutes until it is a matter of hours, so that the schedule is seen exactly.
      await pass(world, 60_000, 500)
      await pass(world, 45 * 60_000, 15_000)
      await pass(world, 90 * 3_600_000, 10 * 60_000)
      expect(world.received.length).toBe(k + 1)
      for (let n = 1; n <= k; n++) {
        const [before, after] = [world.received[n - 1], world.received[n]]
        const wait = (after?.at ?? 0) - (before?.at ?? 0)
        const scheduled = RETRY_DELAYS_MS[n - 1] ?? 0
        expect(wait).toBeGreaterThanOrEqual(scheduled)
        // The jitter, and what a step of the clock adds.
        expect(wait).toBeLessThanOrEqual(
          scheduled * (1 + JITTER) + (scheduled < 60_000 ? 1500 : 10 * 60_000 + 1000),
        )
        expect(after?.body).toBe(before?.body)
        expect(after?.headers['webhook-id']).toBe(before?.headers['webhook-id'])
        expect(Number(after?.headers['webhook-timestamp'])).toBe(Math.floor((after?.at ?? 0) / 1000))
      }
      expect(await deliveries()).toMatchObject([{ status: 'delivered', failedAttempts: k }])
    }
  })

  it('for ever is given up after ten attempts, kept as failed, and can be asked for again', async () => {
    const world = deliverySimulation(db.table, () => httpResponse(503))
    await happen(world)
    await world.drain()
    await pass(world, 80 * 3_600_000, 15 * 60_000)
    expect(world.received.length).toBe(RETRY_DELAYS_MS.length + 1)
    const [failed] = await deliveries()
    expect(failed).toMatchObject({ status: 'failed', nextAt: null, dueAt: null })
  })

  it.each([
    ['429', '120', 120_000],
    ['503', '7200', 7_200_000],
    ['500', '3', 5000],
    ['429', '9999999', 24 * 3_600_000],
  ])('with %s and retry-after %s is left alone so long', async (status, retryAfter, expected) => {
    const world = deliverySimulation(db.table, () =>
      world.received.length === 1 ? httpResponse(Number(status), retryAfter) : httpResponse(200),
    )
    await happen(world)
    await world.drain()
    await pass(world, expected * 1.2 + 120_000, expected > 600_000 ? 60_000 : 1000)
    const [first, second, ...more] = world.received
    expect(more).toEqual([])
    const wait = (second?.at ?? 0) - (first?.at ?? 0)
    expect(wait).toBeGreaterThanOrEqual(expected)
    expect(wait).toBeLessThanOrEqual(expected + 61_000)
  })

  it('with 410 is disabled at once', async () => {
    const world = deliverySimulation(db.table, () => httpResponse(410))
    await happen(world, 2)
    await world.drain()
    expect(await webhookStore(db).find(clinic.id, webhook.id)).toMatchObject({ isActive: false })
    expect(world.received.length).toBe(1)
    expect((await deliveries()).map(({ status }) => status)).toEqual(['failed', 'failed'])
  })

  it('with a redirect has failed', async () => {
    const world = deliverySimulation(db.table, () => httpResponse(302))
    await happen(world)
    await world.drain()
    expect(await deliveries()).toMatchObject([{ status: 'pending', failedAttempts: 1 }])
  })

  it('for a week is disabled after five days, and has every event as failed or waiting; nothing is lost', async () => {
    const world = deliverySimulation(db.table, () => ({ kind: 'failed', reason: 'connection', latencyMs: 1 }))
    const start = world.now
    let disabledAt = 0
    for (let day = 0; day < 7; day++) {
      await happen(world)
      await world.drain()
      await pass(world, 24 * 3_600_000, 20 * 60_000)
      const known = await webhookStore(db).find(clinic.id, webhook.id)
      if (!known?.isActive && disabledAt === 0) disabledAt = world.now
    }
    expect(disabledAt - start).toBeGreaterThanOrEqual(DISABLE_AFTER_MS)
    expect(disabledAt - start).toBeLessThanOrEqual(DISABLE_AFTER_MS + 24 * 3_600_000)
    const all = await deliveries()
    // What happens to a disabled endpoint is no delivery; the event is in GET /events.
    expect(all.length).toBe(6)
    expect(all.every(({ status }) => status === 'failed')).toBe(true)
  })

  it('and works again is no longer failing: five days begin anew', async () => {
    let status = 500
    const world = deliverySimulation(db.table, () => httpResponse(status))
    await happen(world)
    await world.drain()
    await pass(world, 3 * 24 * 3_600_000, 20 * 60_000)
    status = 200
    await pass(world, 12 * 3_600_000, 10 * 60_000)
    status = 500
    await happen(world)
    await world.drain()
    await pass(world, 3 * 24 * 3_600_000, 20 * 60_000)
    expect(await webhookStore(db).find(clinic.id, webhook.id)).toMatchObject({ isActive: true })
  })
})

it('goes the slow way once an endpoint fails, and back when it works', async () => {
  let status = 500
  const world = deliverySimulation(db.table, () => httpResponse(status))
  await happen(world)
  await world.drain()
  await happen(world)
  const [waiting] = world.queues.quick.splice(0)
  if (!waiting) throw new Error('nothing was queued')
  await deliverEvent(world.dependencies, waiting.delivery, 'quick')
  expect(world.received.length).toBe(1)
  expect(world.queues.slow.filter(({ at }) => at <= world.now).map(({ delivery }) => delivery)).toEqual([
    waiting.delivery,
  ])
  status = 200
  await world.drain()
  await pass(world, 10_000, 1000)
  await happen(world)
  const [next] = world.queues.quick
  await deliverEvent(world.dependencies, next?.delivery as typeof waiting.delivery, 'quick')
  expect(world.received.length).toBe(4)
})

it('signs with both secrets for a day after a rotation', async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const previousSecret = { secret: 'whsec_b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQ=', until }
  await webhookStore(db).change(clinic.id, webhook.id, (before) => ({ ...before, previousSecret }))
  const world = deliverySimulation(db.table)
  await happen(world)
  await world.drain()
  world.now += 2 * 3_600_000
  await happen(world)
  await world.drain()
  const signatures = world.received.map(({ headers }) => headers['webhook-signature']?.split(' ').length)
  expect(signatures).toEqual([2, 1])
})

it('delivers nothing of an endpoint that was deleted', async () => {
  const world = deliverySimulation(db.table)
  await happen(world)
  await webhookStore(db).remove(clinic.id, webhook.id)
  await world.drain()
  await pass(world, 3_600_000)
  expect(world.received).toEqual([])
})
