/** Endpoints, queues and receivers for tests of events. */
import type { DeliveryConsumer } from '../../shared/delivery/deliver-event.ts'
import { deliverEvent } from '../../shared/delivery/deliver-event.ts'
import type { QueuedDelivery, Way } from '../../shared/delivery/delivery-queues.ts'
import type { Attempted } from '../../shared/delivery/webhook-transport.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { EVENTS } from '../../shared/domain/event.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { Webhook } from '../../shared/domain/webhook.ts'
import { deliveryStore } from '../../shared/store/events/deliveries.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import { once } from '../../shared/store/table/idempotency.ts'
import type { Table } from '../../shared/store/table/table.ts'

/** An endpoint of the clinic that is subscribed to everything, unless the test says otherwise. */
export async function subscribed(
  table: Table,
  clinic: ClinicId,
  facts: Partial<Webhook> = {},
): Promise<Webhook> {
  const at = new Date().toISOString()
  const id = newUuid()
  const webhook: Webhook = {
    id,
    url: `https://${id}.example.com/`,
    events: [...EVENTS],
    isActive: true,
    description: null,
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    previousSecret: null,
    createdAt: at,
    updatedAt: at,
    ...facts,
  }
  const request = { clinic, credential: 'ck', route: 'create-webhook', key: undefined, body: '' }
  await webhookStore({ table }).create(clinic, webhook, once({ table, now: Date.now }, request), 201, {})
  return webhook
}

export type Received = {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
  readonly at: number
}

type Answer = (received: Received) => Attempted | Promise<Attempted>

export const answered = (status: number, retryAfter: string | null = null, latencyMs = 10): Attempted => ({
  kind: 'answered',
  status,
  retryAfter,
  latencyMs,
})

/** Queues whose messages come back in time, and a receiver; time moves only when it is moved. */
export function deliveryWorld(table: Table, answer: Answer = () => answered(200)) {
  const world = {
    now: Date.now(),
    received: [] as Received[],
    queues: { quick: [] as Waiting[], slow: [] as Waiting[] },
    answer,
    random: () => 0,
    push: async (way: Way, deliveries: readonly QueuedDelivery[], delayMs = 0) => {
      for (const delivery of deliveries) world.queues[way].push({ delivery, at: world.now + delayMs })
    },
    parts: null as unknown as DeliveryConsumer,
    /** Delivers what is there, until nothing is due. */
    drain: async () => {
      for (let found = true; found; ) {
        found = false
        for (const way of ['quick', 'slow'] as const) {
          const ready = world.queues[way].filter(({ at }) => at <= world.now)
          world.queues[way] = world.queues[way].filter(({ at }) => at > world.now)
          for (const { delivery } of ready) {
            found = true
            await deliverEvent(world.parts, delivery, way)
          }
        }
      }
    },
  }
  world.parts = {
    log: deliveryStore({ table }),
    endpoints: webhookStore({ table }),
    queues: { push: world.push },
    now: () => world.now,
    random: () => world.random(),
    transport: {
      post: async (url, headers, body) => {
        const received = { url, headers: headers as Record<string, string>, body, at: world.now }
        world.received.push(received)
        return world.answer(received)
      },
    },
  }
  return world
}

type Waiting = { readonly delivery: QueuedDelivery; readonly at: number }
