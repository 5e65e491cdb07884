import { redeliver, renderDelivery } from '../shared/api/deliveries.ts'
import { ApiError } from '../shared/api/errors.ts'
import { requireEventScopes } from '../shared/api/events.ts'
import { type Delivery, isRetained } from '../shared/domain/webhooks/delivery.ts'
import { redelivered } from '../shared/domain/webhooks/delivery-states.ts'
import { payloadData } from '../shared/domain/webhooks/event.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { deliveryStore } from '../shared/store/events/deliveries.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  redeliver,
  {
    webhooks: webhookStore,
    deliveries: deliveryStore,
    queues: openDeliveryQueues,
    count: ({ count }) => count,
  },
  async ({ clinicId, clinic, credential, path, now, write }, { webhooks, deliveries, queues, count }) => {
    const response = (delivery: Delivery) => ({ data: renderDelivery(delivery, clinic) })
    const requested = write(response)
    if (!(await webhooks.find(clinicId, path.id))) throw new ApiError('webhook_not_found')
    const redeliverAgain = (before: Delivery) => {
      if (!isRetained(before, now)) throw new ApiError('delivery_not_found')
      requireEventScopes(credential.scopes, [before.event], payloadData(before.body))
      return redelivered(before, now)
    }
    const { id: webhook, delivery_id: id } = path
    const delivery = await deliveries.change(clinicId, webhook, id, redeliverAgain, requested)
    if (!delivery) return null
    const queued = { clinic: clinicId, webhook, delivery: id }
    await queues.push('quick', [queued]).catch((error) => count('delivery_not_queued', {}, error))
    return response(delivery)
  },
)
