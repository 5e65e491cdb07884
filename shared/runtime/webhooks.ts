/** Opens the queues and the transport of webhook deliveries with the environment of the function. */
import { deliveryQueues } from '../delivery/webhooks/delivery-queues.ts'
import { webhookTransport } from '../delivery/webhooks/webhook-transport.ts'
import { readDeliveryEnvironment, readWebhookEnvironment } from './environment.ts'
import type { Platform } from './platform.ts'
import { queueClient } from './queue-client.ts'

export function openDeliveryQueues() {
  const { DELIVERY_QUEUE_URL, SLOW_DELIVERY_QUEUE_URL } = readDeliveryEnvironment()
  return deliveryQueues(queueClient(), { quick: DELIVERY_QUEUE_URL, slow: SLOW_DELIVERY_QUEUE_URL })
}

/** The `HOST:PORT` that webhooks may go to although it is not public; undefined except in the local runner. */
export const allowedWebhookHost = (): string | undefined => readWebhookEnvironment().ALLOWED_WEBHOOK_HOST

/** The time of receivers, at which deliveries are signed. */
export function openReceiverClock({ now }: Platform): () => number {
  const { CLOCK_OFFSET_MS } = readWebhookEnvironment()
  return () => now() - CLOCK_OFFSET_MS
}

export function openTransport() {
  const allowedHost = allowedWebhookHost()
  return webhookTransport({ ...(allowedHost !== undefined && { allowedHost }) })
}
