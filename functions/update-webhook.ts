import { allowWebhookHost, renderWebhook, tooManyRotations, updateWebhook } from '../shared/api/webhooks.ts'
import { inLaterSecond } from '../shared/domain/timestamp.ts'
import { type Webhook, withNewSecret } from '../shared/domain/webhooks/webhook.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { allowedWebhookHost } from '../shared/runtime/webhooks.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  allowWebhookHost(updateWebhook, allowedWebhookHost()),
  { webhooks: webhookStore },
  async ({ clinicId, clinic, path, body, now, write, reportChange }, { webhooks }) => {
    const changes = {
      ...(body.url !== undefined && { url: body.url }),
      ...(body.events !== undefined && { events: body.events }),
      ...(body.description !== undefined && { description: body.description }),
      ...(body.is_active !== undefined && { isActive: body.is_active }),
    }
    const response = (webhook: Webhook) => ({ data: renderWebhook(webhook, clinic) })
    const change = (before: Webhook) => {
      const rotated = body.secret === undefined ? before : withNewSecret(before, body.secret, now)
      if (!rotated) throw tooManyRotations(before, now)
      const after = { ...rotated, ...changes }
      const isSame = JSON.stringify(after) === JSON.stringify(before)
      return isSame
        ? before
        : { ...after, updatedAt: inLaterSecond(before.updatedAt, new Date(now).toISOString()) }
    }
    // A person has enabled the endpoint or changed its URL, so its earlier failures no longer count.
    const isTriedAnew = body.is_active === true || body.url !== undefined
    const webhook = await webhooks.change(clinicId, path.id, change, write(response), isTriedAnew)
    if (!webhook) return null
    if (isTriedAnew) reportChange()
    return response(webhook)
  },
)
