import { deleteWebhook, renderWebhook } from '../shared/api/webhooks.ts'
import type { Webhook } from '../shared/domain/webhooks/webhook.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  deleteWebhook,
  { webhooks: webhookStore },
  async ({ clinicId, clinic, path, write }, { webhooks }) => {
    const requested = write((webhook: Webhook) => ({ data: renderWebhook(webhook, clinic) }))
    const isDeleted = await webhooks.remove(clinicId, path.id, requested)
    return isDeleted ? undefined : null
  },
)
