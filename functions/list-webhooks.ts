import { renderPage } from '../shared/api/schemas.ts'
import { listWebhooks, renderWebhook } from '../shared/api/webhooks.ts'
import { offsetOf } from '../shared/domain/lists/paging.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  listWebhooks,
  { webhooks: webhookStore },
  async ({ clinicId, clinic, query }, { webhooks }) => {
    const all = await webhooks.list(clinicId)
    const offset = offsetOf(query)
    const items = all.slice(offset, offset + query.limit)
    return renderPage({ items, total: all.length }, query, (webhook) => renderWebhook(webhook, clinic))
  },
)
