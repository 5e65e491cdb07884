import { redeliver, renderDelivery } from '../shared/api/deliveries.ts'
import { ApiError } from '../shared/api/errors.ts'
import { requireEventScopes } from '../shared/api/events.ts'
import { isRetained, redelivered } from '../shared/domain/webhooks/delivery.ts'
import { payloadData } from '../shared/domain/webhooks/event.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { deliveryStore } from '../shared/store/events/deliveries.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'
import { StoredResponse } from '../shared/store/table/idempotency.ts'

export const handler = endpoint(
  redeliver,
  {
    webhooks: webhookStore,
    deliveries: deliveryStore,
    queues: openDeliveryQueues,
    count: ({ count }) => count,
  },
  async (
    { clinicId, clinic, credential, path, now, idempotency },
    { webhooks, deliveries, queues, count },
  ) => {
    // The first request may have been followed by the deletion of the endpoint.
    if (!(await webhooks.find(clinicId, path.id))) {
      const repeated = await idempotency.find()
      if (repeated) return repeated
      throw new ApiError('webhook_not_found')
    }
    const delivery = await deliveries.changeIdempotently(
      clinicId,
      path.id,
      path.delivery_id,
      (before) => {
        if (!isRetained(before, now)) return null
        requireEventScopes(credential.scopes, [before.event], payloadData(before.body))
        return redelivered(before, now)
      },
      { idempotency, status: 202, response: (after) => ({ data: renderDelivery(after, clinic) }) },
    )
    if (!delivery) throw new ApiError('delivery_not_found')
    if (delivery instanceof StoredResponse) return delivery
    const queued = { clinic: clinicId, webhook: path.id, delivery: delivery.id }
    await queues.push('quick', [queued]).catch((error) => count('delivery_not_queued', {}, error))
    return { data: renderDelivery(delivery, clinic) }
  },
)
