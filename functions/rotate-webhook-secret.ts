import {
  renderStoredWebhook,
  renderWebhookWithSecret,
  rotateWebhookSecret,
  tooManyRotations,
} from '../shared/api/webhooks.ts'
import { newWebhookSecret } from '../shared/delivery/webhooks/webhook-signature.ts'
import { type Webhook, withNewSecret } from '../shared/domain/webhooks/webhook.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  rotateWebhookSecret,
  { webhooks: webhookStore },
  async ({ clinicId, clinic, path, body, now, write }, { webhooks }) => {
    const secret = body.secret ?? newWebhookSecret()
    const rotate = (before: Webhook) => {
      const after = withNewSecret(before, secret, now)
      if (!after) throw tooManyRotations(before, now)
      return after
    }
    const requested = write((rotated: Webhook) => renderStoredWebhook(rotated, clinic))
    const rotated = await webhooks.change(clinicId, path.id, rotate, requested)
    return rotated && { data: renderWebhookWithSecret(rotated, clinic) }
  },
)
