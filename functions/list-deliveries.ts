import { listDeliveries, renderDelivery } from '../shared/api/deliveries.ts'
import { invalidCursor, renderCursorPage } from '../shared/api/schemas.ts'
import type { Scope } from '../shared/domain/scope.ts'
import type { Delivery } from '../shared/domain/webhooks/delivery.ts'
import { mayReadAllEvents, maySeeEvent, payloadData } from '../shared/domain/webhooks/event.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { deliveryStore } from '../shared/store/events/deliveries.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  listDeliveries,
  { webhooks: webhookStore, deliveries: deliveryStore },
  async ({ clinicId, clinic, credential: { scopes }, path, query, now }, { webhooks, deliveries }) => {
    const [webhook, page] = await Promise.all([
      webhooks.find(clinicId, path.id),
      deliveries.page(clinicId, path.id, query, now, filterOf(scopes)),
    ])
    if (!webhook) return null
    if (!page) throw invalidCursor()
    return renderCursorPage(page, query, (delivery) => renderDelivery(delivery, clinic))
  },
)

/** The deliveries to list; undefined for all of them, which takes fewer reads. */
function filterOf(scopes: readonly Scope[]) {
  if (mayReadAllEvents(scopes)) return undefined
  return (delivery: Delivery) => maySeeEvent(scopes, delivery.event, payloadData(delivery.body))
}
