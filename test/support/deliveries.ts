/** Webhooks, queues and webhook endpoints for tests of deliveries. */
import type { DeliveryConsumer } from '../../shared/delivery/webhooks/deliver-event.ts'
import { deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import type { AttemptResult } from '../../shared/delivery/webhooks/webhook-transport.ts'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import {
  type Delivery,
  type DeliveryQueue,
  type DeliveryReference,
  newDelivery,
} from '../../shared/domain/webhooks/delivery.ts'
import { EVENTS } from '../../shared/domain/webhooks/event.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { ACTIVE_VERSION } from '../../shared/store/credentials.ts'
import { addDelivery } from '../../shared/store/events/deliveries.ts'
import { deliveryAttempts } from '../../shared/store/events/delivery-attempts.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import { clinicCredentialKey } from '../../shared/store/keys/clinics.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { chunked } from '../../shared/store/table/chunked.ts'
import { UNREQUESTED } from '../../shared/store/table/idempotency.ts'
import type { Table } from '../../shared/store/table/table.ts'

/** Creates a webhook that is subscribed to all events, of a credential of its own, unless `facts` differ. */
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
    secretNumber: 1,
    previousSecrets: [],
    createdBy: `ck_${id}`,
    createdAt: at,
    updatedAt: at,
    ...facts,
  }
  if (!facts.createdBy)
    await table.transact([
      table.putWrite({ ...clinicCredentialKey(clinic, webhook.createdBy), v: ACTIVE_VERSION }),
    ])
  await webhookStore({ table }).create(clinic, webhook, UNREQUESTED)
  return webhook
}

/** Stores the deliveries of a record's first events to one webhook, without messages. */
export async function addChangesOfOneRecord(
  table: Table,
  clinic: Clinic,
  { id: webhook }: Webhook,
  count: number,
  now = Date.now(),
): Promise<DeliveryReference[]> {
  const record = newUuid()
  const deliveries = Array.from({ length: count }, (_, index): Delivery => {
    const event = {
      id: newUuid(),
      event: 'patient.updated' as const,
      record,
      sequence: index + 1,
      data: { id: record },
      createdAt: new Date(now).toISOString(),
    }
    return newDelivery(event, clinic, { id: newUuid(), webhook, now })
  })
  for (const chunk of chunked(deliveries, 30)) {
    const changes = new Changeset(table, clinic.id)
    for (const delivery of chunk) addDelivery(changes, delivery)
    await changes.commit()
  }
  return deliveries.map(({ id }) => ({ clinic: clinic.id, webhook, delivery: id }))
}

export type ReceivedRequest = {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
  readonly at: number
  readonly timeoutMs: number
}

type Responder = (received: ReceivedRequest) => AttemptResult | Promise<AttemptResult>

export const httpResponse = (
  status: number,
  retryAfter: string | null = null,
  latencyMs = 10,
): AttemptResult => ({
  kind: 'responded',
  status,
  retryAfter,
  latencyMs,
})

/** An attempt that had so much time. */
const cutOffAfter = (latencyMs: number): AttemptResult => ({ kind: 'failed', reason: 'timeout', latencyMs })

/** Queues with delays, an endpoint and a clock that only the test advances. */
export function deliverySimulation(table: Table, respond: Responder = () => httpResponse(200)) {
  const simulation = {
    now: Date.now(),
    received: [] as ReceivedRequest[],
    queues: { quick: [] as WaitingDelivery[], slow: [] as WaitingDelivery[] },
    respond,
    random: () => 0,
    push: async (queue: DeliveryQueue, deliveries: readonly DeliveryReference[], delayMs = 0) => {
      for (const delivery of deliveries)
        simulation.queues[queue].push({ delivery, at: simulation.now + delayMs })
    },
    dependencies: null as unknown as DeliveryConsumer,
    /** Consumes queued deliveries until none is due. */
    drain: async () => {
      for (let found = true; found; ) {
        found = false
        for (const queue of ['quick', 'slow'] as const) {
          const ready = simulation.queues[queue].filter(({ at }) => at <= simulation.now)
          simulation.queues[queue] = simulation.queues[queue].filter(({ at }) => at > simulation.now)
          for (const { delivery } of ready) {
            found = true
            await deliverEvent(simulation.dependencies, delivery, queue)
          }
        }
      }
    },
  }
  simulation.dependencies = {
    deliveries: deliveryAttempts({ table }),
    webhooks: webhookStore({ table }),
    health: webhookHealthStore({ table }),
    queues: { push: simulation.push },
    now: () => simulation.now,
    random: () => simulation.random(),
    newToken: newUuid,
    transport: {
      post: async (url, headers, body, timeoutMs = 15_000) => {
        const received = {
          url,
          headers: headers as Record<string, string>,
          body,
          at: simulation.now,
          timeoutMs,
        }
        simulation.received.push(received)
        const result = await simulation.respond(received)
        return result.latencyMs > timeoutMs ? cutOffAfter(timeoutMs) : result
      },
    },
  }
  return simulation
}

type WaitingDelivery = { readonly delivery: DeliveryReference; readonly at: number }
