/** Endpoints, queues and receivers for tests of events. */
import type { DeliveryConsumer } from '../../shared/delivery/deliver-event.ts'
import { deliverEvent } from '../../shared/delivery/deliver-event.ts'
import type { Lane } from '../../shared/delivery/delivery-queues.ts'
import type { AttemptResult } from '../../shared/delivery/webhook-transport.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { DeliveryReference } from '../../shared/domain/delivery.ts'
import { EVENTS } from '../../shared/domain/event.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { Webhook } from '../../shared/domain/webhook.ts'
import { deliveryAttempts } from '../../shared/store/events/delivery-attempts.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import { idempotencyGuard } from '../../shared/store/table/idempotency.ts'
import type { Table } from '../../shared/store/table/table.ts'

/** An endpoint of the clinic that is subscribed to everything, unless the test says otherwise. */
export async function createWebhook(
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
  await webhookStore({ table }).create(
    clinic,
    webhook,
    idempotencyGuard({ table, now: Date.now }, request),
    201,
    {},
  )
  return webhook
}

export type ReceivedRequest = {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
  readonly at: number
}

type Responder = (received: ReceivedRequest) => AttemptResult | Promise<AttemptResult>

export const httpResponse = (
  status: number,
  retryAfter: string | null = null,
  latencyMs = 10,
): AttemptResult => ({
  kind: 'answered',
  status,
  retryAfter,
  latencyMs,
})

/** Queues whose messages come back in time, and a receiver; time moves only when it is moved. */
export function deliverySimulation(table: Table, respond: Responder = () => httpResponse(200)) {
  const world = {
    now: Date.now(),
    received: [] as ReceivedRequest[],
    queues: { quick: [] as WaitingDelivery[], slow: [] as WaitingDelivery[] },
    respond,
    random: () => 0,
    push: async (lane: Lane, deliveries: readonly DeliveryReference[], delayMs = 0) => {
      for (const delivery of deliveries) world.queues[lane].push({ delivery, at: world.now + delayMs })
    },
    dependencies: null as unknown as DeliveryConsumer,
    /** Delivers what is there, until nothing is due. */
    drain: async () => {
      for (let found = true; found; ) {
        found = false
        for (const lane of ['quick', 'slow'] as const) {
          const ready = world.queues[lane].filter(({ at }) => at <= world.now)
          world.queues[lane] = world.queues[lane].filter(({ at }) => at > world.now)
          for (const { delivery } of ready) {
            found = true
            await deliverEvent(world.dependencies, delivery, lane)
          }
        }
      }
    },
  }
  world.dependencies = {
    deliveries: deliveryAttempts({ table }),
    webhooks: webhookStore({ table }),
    health: webhookHealthStore({ table }),
    queues: { push: world.push },
    now: () => world.now,
    random: () => world.random(),
    newToken: newUuid,
    transport: {
      post: async (url, headers, body) => {
        const received = { url, headers: headers as Record<string, string>, body, at: world.now }
        world.received.push(received)
        return world.respond(received)
      },
    },
  }
  return world
}

type WaitingDelivery = { readonly delivery: DeliveryReference; readonly at: number }
