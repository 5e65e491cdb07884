/** Deliveries side by side to endpoints that fail or are slow, in virtual time on the real engine. */
import { beforeEach, expect, it } from 'vitest'
import { mulberry32 } from '../../bin/demo/random.ts'
import { deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { type Delivery, type DeliveryReference, redelivered } from '../../shared/domain/webhooks/delivery.ts'
import { RETRY_DELAYS_MS, type Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { deliveryStore } from '../../shared/store/events/deliveries.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { deliveryKey, waitingDeliveriesPartition } from '../../shared/store/keys/webhooks.ts'
import {
  addChangesOfOneRecord,
  createWebhook,
  connectionFailure as failure,
  httpResponse,
  queueChanges,
} from '../support/deliveries.ts'
import { rounds } from '../support/scale.ts'
import { freshTable, newClinic, type TestTable } from '../support/table.ts'
import { type Post, virtualDeliveries } from '../support/virtual-deliveries.ts'

let db: TestTable
let clinic: Clinic
let webhook: Webhook

beforeEach(async () => {
  db = await freshTable()
  clinic = await newClinic(db.table)
  webhook = await createWebhook(db.table, clinic.id)
})

type Simulation = ReturnType<typeof virtualDeliveries>

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const queue = (simulation: Simulation, ...records: number[]) =>
  queueChanges(db.table, { clinic, webhook }, simulation, records)

async function deliveries(): Promise<readonly Delivery[]> {
  const all: Delivery[] = []
  for (let after: string | undefined; ; ) {
    const page = await deliveryStore(db).page(clinic.id, webhook.id, { limit: 100, after }, Date.now())
    all.push(...(page?.items ?? []))
    if (!page?.hasMore) return all.toReversed()
    after = page.nextAfter ?? undefined
  }
}

const pending = async () => (await deliveries()).filter(({ status }) => status === 'pending')

const recordOf = async (reference?: DeliveryReference) =>
  (await deliveryStore(db).find(clinic.id, webhook.id, reference?.delivery ?? ''))?.record

async function redeliver(simulation: Simulation, id: string): Promise<void> {
  await deliveryStore(db).change(clinic.id, webhook.id, id, (found) => redelivered(found, simulation.now))
  await simulation.push('quick', [{ clinic: clinic.id, webhook: webhook.id, delivery: id }])
}

it('a failing endpoint is tried every five minutes while deliveries wait', async () => {
  const simulation = virtualDeliveries(db.table, () => failure)
  await queue(simulation, ...Array(30).fill(1))
  await simulation.run(3 * HOUR)
  const recoveredAt = simulation.now
  simulation.respond = () => httpResponse(200)
  await simulation.run(8 * MINUTE)
  const first = simulation.posts.find(({ at }) => at > recoveredAt)
  expect((first?.at ?? 0) - recoveredAt).toBeLessThanOrEqual(5.5 * MINUTE)
  expect(await pending()).toEqual([])
})

it('a failure of a second with many deliveries at once is over within a minute', async () => {
  const simulation = virtualDeliveries(db.table, () => failure)
  await queue(simulation, ...Array(20).fill(1))
  await simulation.run(1000)
  simulation.respond = () => httpResponse(200)
  await simulation.run(MINUTE)
  expect(await pending()).toEqual([])
})

it('a failure of eight seconds with many deliveries at once is over within a minute', async () => {
  const simulation = virtualDeliveries(db.table, () => failure)
  const begin = simulation.now
  simulation.respond = () =>
    simulation.now - begin > 8000 ? httpResponse(200) : { ...failure, latencyMs: 30 }
  await queue(simulation, ...Array(20).fill(1))
  for (let second = 1; second < 30; second++) {
    await simulation.run(1000)
    await queue(simulation, 1)
  }
  await simulation.run(30_000)
  expect(await pending()).toEqual([])
})

it('events that are always rejected do not hold up the others of a slow endpoint', async () => {
  const rejected = new Set<string | undefined>()
  const simulation = virtualDeliveries(db.table, ({ data }) =>
    httpResponse(rejected.has(data.id) ? 500 : 200, null, 2000),
  )
  await queue(simulation, 1, 1, 1)
  await simulation.run(20_000)
  const made = await queue(simulation, ...Array(40).fill(1))
  for (const n of [5, 6, 7, 20, 21, 22]) rejected.add(await recordOf(made[n]))
  await simulation.run(2 * MINUTE)
  expect((await pending()).filter(({ record }) => !rejected.has(record))).toEqual([])
})

it('one response with a long retry-after does not hold up the other deliveries', async () => {
  const simulation = virtualDeliveries(db.table, () => failure)
  await queue(simulation, 1, 1, 1, 1, 1)
  await simulation.run(1000)
  const [first] = await queue(simulation, 1)
  const asking = await recordOf(first)
  simulation.respond = ({ data }) => (data.id === asking ? httpResponse(503, '86400') : httpResponse(200))
  await simulation.run(10 * MINUTE)
  expect((await pending()).map(({ record }) => record)).toEqual([asking])
})

it('after it was enabled again, an endpoint gets an event although an earlier one of its record waits', async () => {
  const simulation = virtualDeliveries(db.table, () => failure)
  await queue(simulation, ...Array(40).fill(1))
  await simulation.run(20_000)
  await queue(simulation, 3)
  await simulation.run(70 * MINUTE)
  const unattempted = (await deliveries()).filter(({ attempts }) => attempts.length === 0)
  expect(unattempted.length).toBeGreaterThan(1)
  simulation.respond = () => httpResponse(200)
  await webhookHealthStore(db).reset(clinic.id, webhook.id)
  await redeliver(simulation, unattempted.at(-1)?.id ?? '')
  await simulation.run(MINUTE)
  expect(await pending()).toEqual([])
})

it('a success that is repeated every minute does not use up the retries of what fails', async () => {
  const simulation = virtualDeliveries(db.table, () => failure)
  await queue(simulation, ...Array(12).fill(1))
  await simulation.run(10_000)
  const [accepted] = await addChangesOfOneRecord(db.table, clinic, webhook, 1, simulation.now)
  const record = await recordOf(accepted)
  simulation.respond = ({ data }) => (data.id === record ? httpResponse(200) : failure)
  for (let minute = 0; minute < rounds(60, 600); minute++) {
    await redeliver(simulation, accepted?.delivery ?? '')
    await simulation.run(MINUTE)
  }
  // The retry table has as many attempts in that time: 5 s, 5 min, 30 min, and 2, 5 and 10 hours.
  const most = Math.max(...(await deliveries()).map(({ failedAttempts }) => failedAttempts))
  expect(most).toBeLessThanOrEqual(rounds(4, 6))
}, 600_000)

it('deliveries that have expired do not hold up those after them', async () => {
  const simulation = virtualDeliveries(db.table, () => failure)
  await queue(simulation, ...Array(40).fill(1))
  await simulation.run(30 * MINUTE)
  // DynamoDB deletes expired items in no particular order: deliveries before their waiting items.
  const expired = (await pending()).slice(0, 20).map(({ id }) => deliveryKey(clinic.id, webhook.id, id))
  await db.table.deleteMany(expired)
  simulation.respond = () => httpResponse(200)
  await queue(simulation, 1)
  await simulation.run(10 * MINUTE)
  expect(await pending()).toEqual([])
})

it('one consumer tries an open circuit, however long the others were held up', async () => {
  const simulation = virtualDeliveries(db.table, () => failure)
  await queue(simulation, ...Array(8).fill(1))
  await simulation.run(10 * MINUTE)
  const references = await queue(simulation, 1, 1)
  const [quicker, slower] = references as [DeliveryReference, DeliveryReference]
  simulation.now += 6 * MINUTE
  let attempts = 0
  const transport = {
    post: async () => {
      attempts++
      return failure
    },
  }
  const consumer = { ...simulation.consumer, transport }
  const { health } = consumer
  // A whole attempt takes place between the other's read and its permit.
  const takePermit: typeof health.takePermit = async (...permit) => {
    await deliverEvent(consumer, quicker, 'slow')
    return health.takePermit(...permit)
  }
  await deliverEvent({ ...consumer, health: { ...health, takePermit } }, slower, 'slow')
  expect(attempts).toBe(1)
})

/** Whether the attempt came before its delay although nothing succeeded since the one before. */
function isEarly(before: Post, next: Post, index: number, posts: readonly Post[]): boolean {
  const { result } = before
  const requested = result.kind === 'answered' && result.status === 429 ? 120_000 : 0
  const delay = Math.max(requested, RETRY_DELAYS_MS[index] ?? 0)
  const isSuccess = ({ end, result: other }: Post) =>
    end >= before.at && end <= next.at && other.kind === 'answered' && other.status === 200
  const gap = next.at - before.end
  return gap < requested - 1000 || (gap < delay - 1000 && !posts.some(isSuccess))
}

it('keeps order and retry delays, and delivers everything, to an endpoint that changes', async () => {
  for (let seed = 1; seed <= rounds(1, 30); seed++) {
    const random = mulberry32(Number(process.env.SEED ?? seed))
    clinic = await newClinic(db.table)
    webhook = await createWebhook(db.table, clinic.id)
    const modes = {
      well: () => httpResponse(200, null, 10 + Math.floor(random() * 400)),
      failing: () => failure,
      slow: () => httpResponse(200, null, 3000 + Math.floor(random() * 4000)),
      hanging: () => ({ kind: 'failed', reason: 'timeout', latencyMs: 15_000 }) as const,
      half: () => httpResponse(random() < 0.5 ? 200 : 500, null, Math.floor(random() * 300)),
      asking: () => httpResponse(429, '120', 20),
    }
    const simulation = virtualDeliveries(db.table, modes.well)
    simulation.isDuplicated = () => random() < 0.25
    // Two sweeps at the same time.
    const sweeps = () => simulation.sweep()
    for (let n = 0; n < 14; n++) {
      const names = Object.keys(modes) as (keyof typeof modes)[]
      simulation.respond = modes[names[Math.floor(random() * names.length)] as keyof typeof modes]
      await queue(simulation, 1, Math.ceil(random() * 6), 1)
      await simulation.run(random() * 6 * MINUTE, sweeps)
    }
    simulation.respond = modes.well
    for (let hours = 0; hours < 20 && (await pending()).length > 0; hours++) await simulation.run(HOUR)
    const seen = `seed ${seed}`
    expect(
      (await deliveries()).every(({ status }) => status === 'delivered'),
      seen,
    ).toBe(true)
    expect(
      await db.table.query({ pk: waitingDeliveriesPartition(clinic.id, webhook.id), limit: 9 }),
      seen,
    ).toEqual([])
    const { posts } = simulation
    const seenIds = new Set<string>()
    const firsts = posts.filter(({ payload: { id } }) => !seenIds.has(id) && seenIds.add(id))
    for (const ofRecord of Map.groupBy(firsts, ({ payload }) => payload.data.id).values()) {
      const sequences = ofRecord.map(({ payload }) => payload.sequence)
      expect(sequences, seen).toEqual(sequences.toSorted((a, b) => a - b))
    }
    // Those that were cut off in the quick lane do not count.
    const counted = posts.filter(({ result }) => !(result.kind === 'failed' && result.latencyMs === 1000))
    for (const ofEvent of Map.groupBy(counted, ({ payload }) => payload.id).values())
      for (const [index, next] of ofEvent.slice(1).entries())
        expect(isEarly(ofEvent[index] as Post, next, index, posts), seen).toBe(false)
  }
}, 600_000)
