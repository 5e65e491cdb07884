import { pingWebhook, renderDelivery } from '../shared/api/deliveries.ts'
import { type Delivery, newDelivery } from '../shared/domain/webhooks/delivery.ts'
import { PING } from '../shared/domain/webhooks/event.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { deliveryStore } from '../shared/store/events/deliveries.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  pingWebhook,
  {
    webhooks: webhookStore,
    deliveries: deliveryStore,
    queues: openDeliveryQueues,
    count: ({ count }) => count,
  },
  async (
    { clinicId, clinic, path, now, newId, requestId, write },
    { webhooks, deliveries, queues, count },
  ) => {
    const response = (delivery: Delivery) => ({ data: renderDelivery(delivery, clinic) })
    const requested = write(response)
    const webhook = await webhooks.find(clinicId, path.id)
    if (!webhook) return null
    const createdAt = new Date(now).toISOString()
    const event = {
      id: newId(),
      event: PING,
      record: webhook.id,
      sequence: 1,
      data: { id: webhook.id },
      createdAt,
      source: 'api' as const,
      requestId,
    }
    const delivery = {
      ...newDelivery(event, clinic, { id: newId(), webhook: webhook.id, now }),
      isManual: true,
    }
    await deliveries.create(clinicId, delivery, requested)
    const queued = { clinic: clinicId, webhook: webhook.id, delivery: delivery.id }
    await queues.push('quick', [queued]).catch((error) => count('delivery_not_queued', {}, error))
    return response(delivery)
  },
)
