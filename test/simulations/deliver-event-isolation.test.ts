/**
 * The effect of endpoints that hang or fail, and of a backlog, on another clinic: a simulation of both queues and their pollers in
 * virtual time around the real consumer. The queues are fair as SQS describes it: of the messages that can be received, those
 * of the group with the fewest messages in flight come first. The store is a model; other tests run the consumer with the real one.
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type DeliveryConsumer, deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import {
  type Delivery,
  type DeliveryQueue,
  type DeliveryReference,
  newDelivery,
} from '../../shared/domain/webhooks/delivery.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { HEALTHY, type WebhookHealth } from '../../shared/domain/webhooks/webhook-health.ts'
import { httpResponse } from '../support/deliveries.ts'
import { mulberry32 } from '../support/random.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Fewer invocations at a time than Lambda reaches in some seconds (shared/runtime/workers.ts allows 100 for each queue). */
const POLLERS = 20
const BATCH = { quick: 10, slow: 1 }
/** A call of the table. */
const STORE_MS = 5

type Endpoint = 'well' | 'hangs' | 'fails' | 'fails once'

/** Queues whose messages are received with the fairness of SQS. */
function fairQueue(groupOf: (message: DeliveryReference) => string) {
  const waiting = new Map<string, DeliveryReference[]>()
  const inFlight = new Map<string, number>()
  const count = (group: string) => inFlight.get(group) ?? 0
  return {
    send: (messages: readonly DeliveryReference[]) => {
      for (const [group, all] of Map.groupBy(messages, groupOf))
        waiting.set(group, [...(waiting.get(group) ?? []), ...all])
    },
    receive: (max: number): DeliveryReference[] => {
      const received: DeliveryReference[] = []
      while (received.length < max) {
        const [group] = [...waiting.keys()].sort((a, b) => count(a) - count(b))
        if (group === undefined) break
        const messages = waiting.get(group) ?? []
        received.push(messages.shift() as DeliveryReference)
        inFlight.set(group, count(group) + 1)
        if (messages.length === 0) waiting.delete(group)
      }
      return received
    },
    done: (message: DeliveryReference) => inFlight.set(groupOf(message), count(groupOf(message)) - 1),
  }
}

function simulation() {
  const random = mulberry32(7)
  const deliveries = new Map<string, Delivery>()
  const health = new Map<string, WebhookHealth>()
  const behaviours = new Map<string, Endpoint>()
  const attempts: { webhook: string; at: number; dueAt: number }[] = []
  const queues = { quick: fairQueue(({ clinic }) => clinic), slow: fairQueue(({ webhook }) => webhook) }
  const push = async (queue: DeliveryQueue, queued: readonly DeliveryReference[], delayMs = 0) => {
    if (delayMs > 0) setTimeout(() => queues[queue].send(queued), Math.ceil(delayMs / 1000) * 1000)
    else queues[queue].send(queued)
  }
  const consumer: Omit<DeliveryConsumer, 'transport'> = {
    now: Date.now,
    random,
    newToken: newUuid,
    queues: { push },
    deliveries: {
      hasSucceeded: async () => false,
      readContext: async (_clinic, webhook, id) => {
        await sleep(STORE_MS)
        const delivery = deliveries.get(id)
        const endpoint = {
          id: webhook,
          url: webhook,
          isActive: true,
          secret: 's'.repeat(16),
          previousSecrets: [],
        }
        return (
          (delivery && {
            delivery,
            webhook: endpoint as unknown as Webhook,
            health: health.get(webhook) ?? HEALTHY,
            isPaused: false,
          }) ??
          null
        )
      },
      change: async (_clinic, _webhook, id, apply) => {
        await sleep(2 * STORE_MS)
        const before = deliveries.get(id) as Delivery
        const after = apply(before) ?? before
        deliveries.set(id, after)
        return after
      },
    },
    health: {
      record: async (_clinic, webhook, before, after) => {
        if (JSON.stringify(before) === JSON.stringify(after)) return
        await sleep(STORE_MS)
        health.set(webhook, after)
      },
    },
    webhooks: { disable: async () => {} },
  }
  async function consume(queue: DeliveryQueue): Promise<never> {
    for (;;) {
      const batch = queues[queue].receive(BATCH[queue])
      if (batch.length === 0) await sleep(20)
      const work = async (queued: DeliveryReference) => {
        const post: DeliveryConsumer['transport']['post'] = async (
          url,
          _headers,
          _body,
          timeoutMs = 15_000,
        ) => {
          const behaviour = behaviours.get(url)
          attempts.push({ webhook: url, at: Date.now(), dueAt: deliveries.get(queued.delivery)?.nextAt ?? 0 })
          const takes = behaviour === 'hangs' ? timeoutMs : 50
          await sleep(takes)
          if (behaviour === 'hangs') return { kind: 'failed', reason: 'timeout', latencyMs: takes }
          if (behaviour === 'fails once') behaviours.set(url, 'well')
          return httpResponse(behaviour === 'well' ? 200 : 500, null, takes)
        }
        await deliverEvent({ ...consumer, transport: { post } }, queued, queue)
        queues[queue].done(queued)
      }
      await Promise.all(batch.map(work))
    }
  }
  for (const queue of ['quick', 'slow'] as const) for (let n = 0; n < POLLERS; n++) void consume(queue)
  return {
    attempts,
    isSlow: (webhook: string) => health.get(webhook)?.isSlow === true,
    /** A clinic with an endpoint; `send` adds as many events. */
    newClinic: (behaviour: Endpoint) => {
      const clinic = newUuid() as ClinicId
      const webhook = newUuid()
      behaviours.set(webhook, behaviour)
      const send = (events: number): Promise<void> => {
        const made = Array.from({ length: events }, () => {
          const event = {
            id: newUuid(),
            record: newUuid(),
            sequence: 1,
            data: {},
            event: 'patient.created' as const,
          }
          const createdAt = new Date().toISOString()
          return newDelivery(
            { ...event, createdAt },
            { id: clinic, timezone: 'UTC' },
            { id: newUuid(), webhook, now: Date.now() },
          )
        })
        for (const delivery of made) deliveries.set(delivery.id, delivery)
        return push(
          'quick',
          made.map(({ id }) => ({ clinic, webhook, delivery: id })),
        )
      }
      return { webhook, send }
    },
  }
}

type Simulation = ReturnType<typeof simulation>

/** How late both attempts of an event are whose first attempt fails. */
async function quietEvent({ newClinic, attempts }: Simulation) {
  const { webhook, send } = newClinic('fails once')
  const at = Date.now()
  await send(1)
  await vi.advanceTimersByTimeAsync(20_000)
  const [first, retry] = attempts.filter((one) => one.webhook === webhook)
  return { first: (first?.at ?? Infinity) - at, retry: (retry?.at ?? Infinity) - (retry?.dueAt ?? 0) }
}

const printed = (what: string, { first, retry }: { first: number; retry: number }) =>
  process.stdout.write(`${what}: first attempt after ${first} ms, retry ${retry} ms late\n`)

it('20 endpoints that hang and 20 that fail delay another clinic by at most 3 s, and its retry by 10 s', async () => {
  const world = simulation()
  const others = Array.from({ length: 40 }, (_, n) => world.newClinic(n < 20 ? 'hangs' : 'fails'))
  for (let second = 0; second < 60; second++) {
    await Promise.all(others.map(({ send }) => send(2)))
    await vi.advanceTimersByTimeAsync(1000)
  }
  const lateness = await quietEvent(world)
  printed('40 endpoints', lateness)
  expect(lateness.first).toBeLessThanOrEqual(3000)
  expect(lateness.retry).toBeLessThanOrEqual(10_000)
  expect(others.map(({ webhook }) => world.isSlow(webhook))).toEqual([
    ...Array(20).fill(true),
    ...Array(20).fill(false),
  ])
})

it.each(['well', 'hangs'] as const)(
  'a backlog of 10,000 deliveries to an endpoint that %s delays another clinic by at most 10 s',
  async (behaviour) => {
    const world = simulation()
    await world.newClinic(behaviour).send(10_000)
    await vi.advanceTimersByTimeAsync(1000)
    const lateness = await quietEvent(world)
    printed(`10,000 deliveries to one that ${behaviour}`, lateness)
    expect(lateness.first).toBeLessThanOrEqual(10_000)
    expect(lateness.retry).toBeLessThanOrEqual(10_000)
  },
)

it('a slow endpoint with 1,000 pending deliveries delays a delivery to another slow one by at most 10 s', async () => {
  const world = simulation()
  await world.newClinic('hangs').send(1000)
  await vi.advanceTimersByTimeAsync(30_000)
  const other = world.newClinic('hangs')
  const at = Date.now()
  await other.send(1)
  await vi.advanceTimersByTimeAsync(20_000)
  const [cutOff, second] = world.attempts.filter(({ webhook }) => webhook === other.webhook)
  expect((cutOff?.at ?? Infinity) - at).toBeLessThanOrEqual(3000)
  expect((second?.at ?? Infinity) - (cutOff?.at ?? 0)).toBeLessThanOrEqual(11_000)
})
