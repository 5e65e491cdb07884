/**
 * Consumers of both lanes that process deliveries side by side, on the real engine, in virtual time: the clock moves when
 * every consumer is idle or waits for its endpoint.
 */
import { type DeliveryConsumer, deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import type { Lane } from '../../shared/delivery/webhooks/delivery-queues.ts'
import { sweepDeliveries } from '../../shared/delivery/webhooks/sweep-deliveries.ts'
import type { AttemptResult } from '../../shared/delivery/webhooks/webhook-transport.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { DeliveryReference } from '../../shared/domain/webhooks/delivery.ts'
import { deliveryAttempts } from '../../shared/store/events/delivery-attempts.ts'
import { dueDeliveries } from '../../shared/store/events/due-deliveries.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import type { Table } from '../../shared/store/table/table.ts'

/** The body of a request, as far as tests read it. */
type Payload = {
  readonly id: string
  readonly sequence: number
  readonly data: { readonly id: string }
}

/** One attempt, from its beginning to its end. */
export type Post = {
  readonly at: number
  readonly end: number
  readonly payload: Payload
  readonly result: AttemptResult
}

/** `latencyMs` of a response is how long it takes in virtual time. */
type Respond = (payload: Payload) => AttemptResult

type Message = { readonly lane: Lane; readonly queued: DeliveryReference; readonly at: number }

const LANES = ['quick', 'slow'] as const
/** Deliveries of a lane at a time. */
const CONCURRENCY = 10
const MINUTE = 60_000

export function virtualDeliveries(table: Table, respond: Respond) {
  let messages: Message[] = []
  let blocked: { readonly end: number; readonly go: () => void }[] = []
  const busy = { quick: 0, slow: 0 }
  /** Called when a delivery ends, waits for its endpoint, or queues a message. */
  let onProgress = () => {}
  const simulation = {
    now: Date.now(),
    respond,
    posts: [] as Post[],
    messages: () => messages.length,
    /** Whether a queue delivers a message a second time. */
    isDuplicated: () => false,
    push: async (lane: Lane, deliveries: readonly DeliveryReference[], delayMs = 0) => {
      for (const queued of deliveries) {
        messages.push({ lane, queued, at: simulation.now + Math.ceil(delayMs / 1000) * 1000 })
        if (simulation.isDuplicated()) messages.push({ lane, queued, at: simulation.now + delayMs + 7000 })
      }
      onProgress()
    },
    consumer: null as unknown as DeliveryConsumer,
    sweep: () =>
      sweepDeliveries({
        deliveries: dueDeliveries({ table }),
        queues: { push: simulation.push },
        now: () => simulation.now,
      }),
    /** Lets time pass, with a sweep every minute, and `everyMinute` after it. */
    run: async (ms: number, everyMinute: () => Promise<void> = async () => {}) => {
      // Whole milliseconds, as of a real clock: due times are parts of keys.
      const end = simulation.now + Math.round(ms)
      for (;;) {
        await consumeUntilBlocked()
        const nextMinute = (Math.floor(simulation.now / MINUTE) + 1) * MINUTE
        const ready = messages.filter(({ lane }) => busy[lane] < CONCURRENCY)
        const next = Math.min(nextMinute, ...[...blocked.map((one) => one.end), ...ready.map(({ at }) => at)])
        simulation.now = Math.max(simulation.now, Math.min(next, end))
        if (next > end) return
        if (next === nextMinute) {
          await simulation.sweep()
          await everyMinute()
        }
        const done = blocked.filter((one) => one.end <= simulation.now)
        blocked = blocked.filter((one) => one.end > simulation.now)
        for (const { go } of done) go()
      }
    },
  }

  /** Starts every delivery that is ready, until all consumers are idle or wait for their endpoints. */
  async function consumeUntilBlocked(): Promise<void> {
    for (startReady(); busy.quick + busy.slow > blocked.length; startReady())
      await new Promise<void>((resolve) => {
        onProgress = resolve
      })
  }

  function startReady(): void {
    for (const lane of LANES)
      while (busy[lane] < CONCURRENCY) {
        const found = messages.find((message) => message.lane === lane && message.at <= simulation.now)
        if (!found) break
        messages = messages.filter((message) => message !== found)
        busy[lane]++
        void deliverEvent(simulation.consumer, found.queued, lane).finally(() => {
          busy[lane]--
          onProgress()
        })
      }
  }

  simulation.consumer = {
    deliveries: deliveryAttempts({ table }),
    webhooks: webhookStore({ table }),
    health: webhookHealthStore({ table }),
    queues: { push: simulation.push },
    now: () => simulation.now,
    random: () => 0,
    newToken: newUuid,
    transport: {
      post: async (_url, _headers, body, cutOffMs = 15_000) => {
        const payload = JSON.parse(body)
        const answer = simulation.respond(payload)
        const isCutOff = answer.latencyMs > cutOffMs
        const result: AttemptResult = isCutOff
          ? { kind: 'failed', reason: 'timeout', latencyMs: cutOffMs }
          : answer
        const end = simulation.now + result.latencyMs
        simulation.posts.push({ at: simulation.now, end, payload, result })
        const response = new Promise<void>((go) => blocked.push({ end, go }))
        onProgress()
        await response
        return result
      },
    },
  }
  return simulation
}
