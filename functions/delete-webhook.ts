import { ApiError } from '../shared/api/errors.ts'
import { deleteWebhook } from '../shared/api/webhooks.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  deleteWebhook,
  { webhooks: webhookStore },
  async ({ clinicId, path }, { webhooks }) => {
    if (!(await webhooks.remove(clinicId, path.id))) throw new ApiError('webhook_not_found')
    return undefined
  },
)
