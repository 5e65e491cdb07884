import { ApiError } from '../shared/api/errors.ts'
import { getWebhook, renderWebhook } from '../shared/api/webhooks.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  getWebhook,
  { webhooks: webhookStore },
  async ({ clinicId, clinic, path }, { webhooks }) => {
    const found = await webhooks.find(clinicId, path.id)
    if (!found) throw new ApiError('webhook_not_found')
    return { data: renderWebhook(found, clinic) }
  },
)
