/**
 * The effect of a hanging endpoint on the others: a simulation of queues, pollers and batches in virtual time around the real
 * consumer. The store is a model; other tests run the consumer with the real store.
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { mulberry32 } from '../../bin/demo/random.ts'
import { deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import type { Lane } from '../../shared/delivery/webhooks/delivery-queues.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { Delivery, DeliveryReference } from '../../shared/domain/webhooks/delivery.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { HEALTHY, type WebhookHealth } from '../../shared/domain/webhooks/webhook-health.ts'
import { httpResponse } from '../support/deliveries.ts'
import { healthAfter } from '../support/webhook-health.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const CLINIC = '6d0e2a7c-0000-4000-8000-000000000001' as ClinicId
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The initial number of Lambda's pollers. */
const POLLERS = 5
const BATCH = 10

/** The latencies of deliveries to five endpoints that respond in about 50 ms, at ten events a second for a minute. */
async function latencies({ hanging }: { hanging: number }): Promise<number[]> {
  const random = mulberry32(7)
  const endpoints = Array.from({ length: 5 + hanging }, (_, n) => ({ id: `w${n}`, hangs: n >= 5 }))
  const health = new Map<string, WebhookHealth>()
  const deliveries = new Map<string, { delivery: Delivery; version: number }>()
  const queues: Record<Lane, DeliveryReference[]> = { quick: [], slow: [] }
  const found: number[] = []
  const push = async (way: Lane, queued: readonly DeliveryReference[], delayMs = 0) => {
    if (delayMs > 0) setTimeout(() => queues[way].push(...queued), delayMs)
    else queues[way].push(...queued)
  }
  const parts: Parameters<typeof deliverEvent>[0] = {
    now: Date.now,
    random,
    newToken: () => String(random()),
    queues: { push },
    deliveries: {
      readContext: async (_clinic, webhook, id) => {
        await sleep(3)
        const stored = deliveries.get(id)
        const endpoint = {
          id: webhook,
          url: webhook,
          isActive: true,
          secret: 's'.repeat(16),
          secretNumber: 1,
          previousSecrets: [],
          createdBy: 'ck_creator',
        }
        return (stored && {
          ...stored,
          webhook: endpoint as unknown as Webhook,
          health: health.get(webhook) ?? HEALTHY,
        }) as never
      },
      earlierUnattempted: async () => null,
      nextUnattempted: async () => null,
      claim: async (_clinic, { delivery, version }, claim) => {
        await sleep(3)
        const stored = deliveries.get(delivery.id)
        if (stored?.version !== version) return false
        deliveries.set(delivery.id, { delivery: { ...delivery, claim }, version: version + 1 })
        return true
      },
      waiting: async () => [],
      removeWaiting: async () => {},
      change: async (_clinic, _webhook, id, to) => {
        await sleep(5)
        const stored = deliveries.get(id)
        const after = stored && to(stored.delivery)
        if (stored && after) deliveries.set(id, { delivery: after, version: stored.version + 1 })
        return after ?? null
      },
    },
    webhooks: { disable: async () => {} },
    health: {
      takePermit: async (_clinic, id, read, { number, until }) => {
        await sleep(3)
        const { permits, ...before } = health.get(id) ?? HEALTHY
        if (permits[number] !== read.permits[number]) return false
        health.set(id, { ...before, permits: permits.with(number, until), queued: null })
        return true
      },
      recordQueued: async (_clinic, id, read, queued) => {
        await sleep(3)
        const before = health.get(id) ?? HEALTHY
        if (before.queued !== read.queued) return false
        health.set(id, { ...before, queued })
        return true
      },
      record: async (_clinic, id, attempt) => {
        await sleep(3)
        const after = healthAfter(health.get(id) ?? HEALTHY, attempt)
        health.set(id, after)
        return after
      },
      recordWaiting: async (_clinic, id, at) => {
        const after = { ...(health.get(id) ?? HEALTHY), waitingSince: at }
        health.set(id, after)
        return after
      },
      clearWaiting: async (_clinic, id) =>
        void health.set(id, { ...(health.get(id) ?? HEALTHY), waitingSince: null }),
    },
    transport: {
      post: async (url, _headers, _body, most = 15_000) => {
        if (endpoints.find(({ id }) => id === url)?.hangs) {
          await sleep(most)
          return { kind: 'failed', reason: 'timeout', latencyMs: most }
        }
        await sleep(30 + random() * 40)
        return httpResponse(200, null, 50)
      },
    },
  }
  let running = true
  const poll = async (way: Lane) => {
    while (running) {
      const batch = queues[way].splice(0, BATCH)
      if (batch.length === 0) await sleep(10)
      const work = batch.map(async (queued) => {
        const born = deliveries.get(queued.delivery)?.delivery.createdAt ?? 0
        await deliverEvent(parts, queued, way)
        const done = deliveries.get(queued.delivery)?.delivery.status === 'delivered'
        if (done) found.push(Date.now() - born)
      })
      await Promise.all(work)
    }
  }
  for (const way of ['quick', 'slow'] as const) for (let n = 0; n < POLLERS; n++) void poll(way)
  for (let n = 0; n < 600; n++) {
    for (const { id: webhook } of endpoints) {
      const id = `${webhook}-${n}`
      const at = Date.now()
      const delivery = {
        id,
        webhook,
        status: 'pending',
        attempts: [],
        failedAttempts: 0,
        claim: null,
        nextAt: at,
        requestedAt: at,
        createdAt: at,
      }
      deliveries.set(id, { delivery: delivery as unknown as Delivery, version: 1 })
      await push('quick', [{ clinic: CLINIC, webhook, delivery: id }])
    }
    await vi.advanceTimersByTimeAsync(100)
  }
  await vi.advanceTimersByTimeAsync(30_000)
  running = false
  await vi.advanceTimersByTimeAsync(20_000)
  return found.sort((a, b) => a - b)
}

it.each([1, 3])(
  'raises the median latency of healthy endpoints by at most a tenth when %i endpoints hang',
  async (hanging) => {
    const alone = await latencies({ hanging: 0 })
    const withHanging = await latencies({ hanging })
    expect([alone.length, withHanging.length]).toEqual([3000, 3000])
    const median = (all: number[]) => all[all.length / 2] ?? 0
    const tail = (all: number[]) => all[Math.floor(all.length * 0.95)] ?? 0
    process.stdout.write(
      `median ${median(alone)} -> ${median(withHanging)} ms, 95 % ${tail(alone)} -> ${tail(withHanging)} ms\n`,
    )
    expect(median(withHanging)).toBeLessThanOrEqual(median(alone) * 1.1)
  },
)
