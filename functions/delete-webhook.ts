import { ApiError } from '../shared/api/errors.ts'
import { deleteWebhook, renderWebhook } from '../shared/api/webhooks.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  deleteWebhook,
  { webhooks: webhookStore },
  async ({ clinicId, clinic, path, checkIfMatch }, { webhooks }) => {
    const isDeleted = await webhooks.remove(clinicId, path.id, (before) =>
      checkIfMatch(before, (current) => ({ data: renderWebhook(current, clinic) })),
    )
    if (!isDeleted) throw new ApiError('webhook_not_found')
    return undefined
  },
)
