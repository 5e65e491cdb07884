import { getWebhook, HEALTH_DELIVERIES, renderWebhookDetails } from '../shared/api/webhooks.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { deliveryStore } from '../shared/store/events/deliveries.ts'
import { webhookHealthStore } from '../shared/store/events/webhook-health.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  getWebhook,
  { webhooks: webhookStore, healths: webhookHealthStore, deliveries: deliveryStore },
  async ({ clinicId, clinic, path, now }, { webhooks, healths, deliveries }) => {
    const [webhook, health, newest] = await Promise.all([
      webhooks.find(clinicId, path.id),
      healths.find(clinicId, path.id),
      deliveries.page(clinicId, path.id, { limit: HEALTH_DELIVERIES }, now),
    ])
    return webhook && { data: renderWebhookDetails(webhook, health, newest?.items ?? [], clinic) }
  },
)
