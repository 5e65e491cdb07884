/** Deliveries on the real engine, with a simulated endpoint and a clock that the test advances. */
import { beforeEach, describe, expect, it } from 'vitest'
import { sweepDeliveries } from '../../../../shared/delivery/webhooks/sweep-deliveries.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import type { Delivery } from '../../../../shared/domain/webhooks/delivery.ts'
import {
  DISABLE_AFTER_MS,
  JITTER,
  RETRY_DELAYS_MS,
  type Webhook,
} from '../../../../shared/domain/webhooks/webhook.ts'
import { deliveryStore } from '../../../../shared/store/events/deliveries.ts'
import { dueDeliveries } from '../../../../shared/store/events/due-deliveries.ts'
import { eventFanOut } from '../../../../shared/store/events/fan-out.ts'
import { listWebhookHealth } from '../../../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../../../shared/store/events/webhooks.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { createWebhook, deliverySimulation, httpResponse } from '../../../support/deliveries.ts'
import { rounds } from '../../../support/scale.ts'
import { aPatient, freshTable, newClinic, type TestTable } from '../../../support/table.ts'

let db: TestTable
let clinic: Clinic
let webhook: Webhook

beforeEach(async () => {
  // Sweeps read what is due of all clinics: what other tests left would take most of the time.
  db = await freshTable()
  clinic = await newClinic(db.table)
  webhook = await createWebhook(db.table, clinic.id)
})

type Simulation = ReturnType<typeof deliverySimulation>

const MINUTE = 60_000

/** Creates patients, and delivers their events. */
async function deliverNew(simulation: Simulation, events = 1): Promise<void> {
  await patientWriter(db).createMany(
    clinic.id,
    Array.from({ length: events }, () => aPatient()),
  )
  const fan = eventFanOut({ table: db.table, now: () => simulation.now, newId: newUuid })
  await fan.fanOut(clinic.id, (made) => simulation.push('quick', made))
  await simulation.drain()
}

const deliveries = async ({ id } = webhook): Promise<readonly Delivery[]> =>
  (await deliveryStore(db).page(clinic.id, id, { limit: 100 }, Date.now()))?.items ?? []

const sweep = (simulation: Simulation) =>
  sweepDeliveries({
    deliveries: dueDeliveries(db),
    queues: { push: simulation.push },
    now: () => simulation.now,
  })

/** Advances the clock in steps, with a drain of the queues after each, and a sweep before it once a minute. */
async function advance(simulation: Simulation, ms: number, step = MINUTE): Promise<void> {
  const end = simulation.now + ms
  for (let sweptAt = simulation.now; simulation.now < end; ) {
    simulation.now += Math.min(step, end - simulation.now)
    if (simulation.now - sweptAt >= MINUTE || simulation.now === end) {
      sweptAt = simulation.now
      await sweep(simulation)
    }
    await simulation.drain()
  }
}

it('delivers an event and records the attempt', async () => {
  const simulation = deliverySimulation(db.table)
  await deliverNew(simulation)
  expect(simulation.received).toMatchObject([{ url: webhook.url }])
  const attempts = [{ status: 200, error: null, latencyMs: 10 }]
  const ended = { status: 'delivered', nextAt: null, dueAt: null, claim: null }
  expect(await deliveries()).toMatchObject([{ ...ended, attempts }])
})

describe('an endpoint that fails', () => {
  it('k times gets retries on schedule, with the same id and body and a new timestamp', async () => {
    const step = rounds(20, 10) * 60_000
    for (const k of rounds(0, 1) ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1, 9]) {
      clinic = await newClinic(db.table)
      webhook = await createWebhook(db.table, clinic.id)
      const simulation = deliverySimulation(db.table, () =>
        httpResponse(simulation.received.length <= k ? 500 : 200),
      )
      simulation.random = Math.random
      await deliverNew(simulation)
      // Small steps for the short delays, so that each attempt is made when it is due.
      await advance(simulation, 60_000, 500)
      await advance(simulation, 45 * 60_000, rounds(60_000, 15_000))
      await advance(simulation, 90 * 3_600_000, step)
      expect(simulation.received.length).toBe(k + 1)
      for (let n = 1; n <= k; n++) {
        const [before, after] = [simulation.received[n - 1], simulation.received[n]]
        const wait = (after?.at ?? 0) - (before?.at ?? 0)
        const scheduled = RETRY_DELAYS_MS[n - 1] ?? 0
        expect(wait).toBeGreaterThanOrEqual(scheduled)
        // The jitter and one step of the clock are added.
        expect(wait).toBeLessThanOrEqual(scheduled * (1 + JITTER) + (scheduled < 60_000 ? 1500 : step + 1000))
        expect(after?.body).toBe(before?.body)
        expect(after?.headers['webhook-id']).toBe(before?.headers['webhook-id'])
        expect(Number(after?.headers['webhook-timestamp'])).toBe(Math.floor((after?.at ?? 0) / 1000))
      }
      expect(await deliveries()).toMatchObject([{ status: 'delivered', failedAttempts: k }])
    }
  })

  it('gets the delay until the date of its retry-after, by the clock of receivers', async () => {
    const simulation = deliverySimulation(db.table)
    const receiverNow = () => simulation.now - 30 * 24 * 3_600_000
    simulation.dependencies = { ...simulation.dependencies, receiverNow }
    simulation.respond = () => httpResponse(503, new Date(receiverNow() + 600_000).toUTCString())
    await deliverNew(simulation)
    const [delivery] = await deliveries()
    expect((delivery?.nextAt ?? 0) - simulation.now).toBeGreaterThan(590_000)
  })

  it('for a week is disabled after five days, and every delivery until then is failed', async () => {
    const broken = { kind: 'failed', reason: 'connection', latencyMs: 1 } as const
    const simulation = deliverySimulation(db.table, () => broken)
    const start = simulation.now
    let disabledAt = 0
    let eventsWhileActive = 0
    for (let day = 0; day < 7; day++) {
      if (disabledAt === 0) eventsWhileActive++
      await deliverNew(simulation)
      await advance(simulation, 24 * 3_600_000, 3_600_000)
      const known = await webhookStore(db).find(clinic.id, webhook.id)
      if (!known?.isActive && disabledAt === 0) disabledAt = simulation.now
    }
    expect(disabledAt - start).toBeGreaterThanOrEqual(DISABLE_AFTER_MS)
    expect(disabledAt - start).toBeLessThanOrEqual(DISABLE_AFTER_MS + 24 * 3_600_000)
    const all = await deliveries()
    // No deliveries are created for a disabled webhook; GET /events has the later events.
    expect(all.length).toBe(eventsWhileActive)
    expect(all.every(({ status }) => status === 'failed')).toBe(true)
  })
})

it('stays enabled if it succeeds between failures, even if it is slow', async () => {
  let answer = httpResponse(500)
  const simulation = deliverySimulation(db.table, () => answer)
  await deliverNew(simulation)
  answer = httpResponse(200, null, 2000)
  await advance(simulation, DISABLE_AFTER_MS, 3_600_000)
  answer = httpResponse(500)
  await deliverNew(simulation)
  expect((await deliveries()).map(({ status }) => status).sort()).toEqual(['delivered', 'pending'])
  expect(await webhookStore(db).find(clinic.id, webhook.id)).toMatchObject({ isActive: true })
})

describe('a slow endpoint', () => {
  const SLOW = httpResponse(200, null, 2000)
  /** The queues that attempts were made in. */
  const queuesOf = ({ received }: Simulation) =>
    received.map(({ timeoutMs }) => (timeoutMs === 1000 ? 'quick' : 'slow'))

  it('is one whose quick attempt is cut off, which is not listed, uses up no retry and is repeated at once', async () => {
    const simulation = deliverySimulation(db.table, () => SLOW)
    await deliverNew(simulation)
    expect(queuesOf(simulation)).toEqual(['quick', 'slow'])
    expect(await deliveries()).toMatchObject([
      { status: 'delivered', attempts: [{ status: 200, latencyMs: 2000 }], failedAttempts: 0 },
    ])
  })

  it('gets its deliveries from the slow queue until an attempt takes less than a second', async () => {
    const simulation = deliverySimulation(db.table, () => SLOW)
    await deliverNew(simulation)
    await deliverNew(simulation)
    expect(queuesOf(simulation)).toEqual(['quick', 'slow', 'slow'])
    for (const status of [500, 200]) {
      simulation.respond = () => httpResponse(status)
      await deliverNew(simulation)
    }
    expect(queuesOf(simulation).slice(3)).toEqual(['slow', 'quick'])
  })

  it('is one whose response arrives in time, but its body does not', async () => {
    const simulation = deliverySimulation(db.table, () => {
      simulation.now += 1500
      return httpResponse(200)
    })
    await deliverNew(simulation)
    expect((await listWebhookHealth(db.table, clinic.id)).get(webhook.id)?.isSlow).toBe(true)
  })

  it('is not one that fails at once: each of its deliveries has its own retries', async () => {
    const simulation = deliverySimulation(db.table, () => httpResponse(500))
    await deliverNew(simulation, 8)
    await advance(simulation, 10_000, 1000)
    expect(queuesOf(simulation)).toEqual(Array(16).fill('quick'))
  })
})

it('signs with both secrets until the previous one ends', async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const previousSecrets = [{ secret: 'whsec_b2xkIG9sZCBvbGQgb2xkIG9sZCBvbGQ=', until }]
  await webhookStore(db).change(clinic.id, webhook.id, (before) => ({ ...before, previousSecrets }))
  const simulation = deliverySimulation(db.table)
  await deliverNew(simulation)
  simulation.now += 2 * 3_600_000
  await deliverNew(simulation)
  const signatures = simulation.received.map(({ headers }) => headers['webhook-signature']?.split(' ').length)
  expect(signatures).toEqual([2, 1])
})
