/** Deliveries to endpoints that hang, fail or are slow, on the real engine. */
import { beforeEach, describe, expect, it } from 'vitest'
import { mulberry32 } from '../../bin/demo/random.ts'
import { deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import { sweepDeliveries } from '../../shared/delivery/webhooks/sweep-deliveries.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { type Delivery, type DeliveryReference, redelivered } from '../../shared/domain/webhooks/delivery.ts'
import { RETRY_DELAYS_MS, type Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { deliveryStore } from '../../shared/store/events/deliveries.ts'
import { dueDeliveries } from '../../shared/store/events/due-deliveries.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { deliveryKey, waitingDeliveriesPartition } from '../../shared/store/keys/webhooks.ts'
import {
  addChangesOfOneRecord,
  createWebhook,
  deliverySimulation,
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
  // A sweep queues the deliveries of all clinics of a table.
  db = await freshTable()
  clinic = await newClinic(db.table)
  webhook = await createWebhook(db.table, clinic.id)
})

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const queue = (simulation: Parameters<typeof queueChanges>[2], ...records: number[]) =>
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

const waitingItems = () =>
  db.table.query({ pk: waitingDeliveriesPartition(clinic.id, webhook.id), limit: 1000 })

async function redeliver(simulation: Parameters<typeof queueChanges>[2], id = ''): Promise<void> {
  await deliveryStore(db).change(clinic.id, webhook.id, id, (found) => redelivered(found, simulation.now))
  await simulation.push('quick', [{ clinic: clinic.id, webhook: webhook.id, delivery: id }])
}

describe('with a clock that the test advances', () => {
  async function advance(
    simulation: ReturnType<typeof deliverySimulation>,
    ms: number,
    step: number,
  ): Promise<void> {
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
    const payloads = simulation.received.map(({ body }) => JSON.parse(body))
    for (const ofRecord of Map.groupBy(payloads, ({ data }) => data.id).values()) {
      const sequences = [...new Set(ofRecord.map(({ sequence }) => sequence))]
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
    }
    expect(await waitingItems()).toEqual([])
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
    await redeliver(simulation, first?.delivery)
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
    await change(clinic.id, webhook.id, later[0]?.delivery ?? '', (found) =>
      redelivered(found, simulation.now),
    )
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
})

describe('side by side, in virtual time', () => {
  const recordOf = async (reference?: DeliveryReference) =>
    (await deliveryStore(db).find(clinic.id, webhook.id, reference?.delivery ?? ''))?.record

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
    await redeliver(simulation, unattempted.at(-1)?.id)
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
      await redeliver(simulation, accepted?.delivery)
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
    const requested = result.kind === 'responded' && result.status === 429 ? 120_000 : 0
    const delay = Math.max(requested, RETRY_DELAYS_MS[index] ?? 0)
    const isSuccess = ({ end, result: other }: Post) =>
      end >= before.at && end <= next.at && other.kind === 'responded' && other.status === 200
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
      expect(await waitingItems(), seen).toEqual([])
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
})
