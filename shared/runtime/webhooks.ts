/** What delivers events, as functions are given it. */
import { deliveryQueues } from '../delivery/delivery-queues.ts'
import { webhookTransport } from '../delivery/webhook-transport.ts'
import { readDeliveryEnvironment, readWebhookEnvironment } from './environment.ts'
import { queueClient } from './queue-client.ts'

export function openDeliveryQueues() {
  const { DELIVERY_QUEUE_URL, SLOW_DELIVERY_QUEUE_URL } = readDeliveryEnvironment()
  return deliveryQueues(queueClient(), { quick: DELIVERY_QUEUE_URL, slow: SLOW_DELIVERY_QUEUE_URL })
}

/** The host on this machine that webhooks may name: none, but where the local runner says so. */
export const allowedWebhookHost = (): string | undefined => readWebhookEnvironment().ALLOWED_WEBHOOK_HOST

export function openTransport() {
  const allowedHost = allowedWebhookHost()
  return webhookTransport({ ...(allowedHost !== undefined && { allowedHost }) })
}
