/** What delivers events, as functions are given it. */
import { SQSClient } from '@aws-sdk/client-sqs'
import { deliveryQueues } from '../delivery/delivery-queues.ts'
import { webhookTransport } from '../delivery/webhook-transport.ts'
import { readDeliveryEnvironment, readWebhookEnvironment } from './environment.ts'

export function openDeliveryQueues() {
  const { DELIVERY_QUEUE_URL, SLOW_DELIVERY_QUEUE_URL } = readDeliveryEnvironment()
  const client = new SQSClient({
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 1000,
      requestTimeout: 2000,
      socketTimeout: 2000,
      throwOnRequestTimeout: true,
    },
  })
  return deliveryQueues(client, { quick: DELIVERY_QUEUE_URL, slow: SLOW_DELIVERY_QUEUE_URL })
}

/** The host on this machine that webhooks may name: none, but where the local runner says so. */
export const allowedWebhookHost = (): string | undefined => readWebhookEnvironment().ALLOWED_WEBHOOK_HOST

export function openTransport() {
  const allowedHost = allowedWebhookHost()
  return webhookTransport({ ...(allowedHost !== undefined && { allowedHost }) })
}
