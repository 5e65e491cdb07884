import { listWebhooks, renderWebhook } from '../shared/api/webhooks.ts'
import { renderListPage } from '../shared/requests/list-page.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  listWebhooks,
  { webhooks: webhookStore },
  async ({ clinicId, clinic, query }, { webhooks }) =>
    renderListPage(await webhooks.list(clinicId), query, (webhook) => renderWebhook(webhook, clinic)),
)
