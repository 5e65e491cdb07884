import { ApiError } from '../shared/api/errors.ts'
import { renderWebhookWithSecret, rotateWebhookSecret, tooManyRotations } from '../shared/api/webhooks.ts'
import { newWebhookSecret } from '../shared/delivery/webhooks/webhook-signature.ts'
import { withNewSecret } from '../shared/domain/webhooks/webhook.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'
import { StoredResponse } from '../shared/store/table/idempotency.ts'

export const handler = endpoint(
  rotateWebhookSecret,
  { webhooks: webhookStore },
  async ({ clinicId, clinic, path, body, now, idempotency }, { webhooks }) => {
    const secret = body.secret ?? newWebhookSecret()
    const rotated = await webhooks.changeSecret(
      clinicId,
      path.id,
      (before) => {
        const after = withNewSecret(before, secret, now)
        if (!after) throw tooManyRotations(before, now)
        return after
      },
      {
        idempotency,
        status: 200,
        response: (webhook) => ({ data: renderWebhookWithSecret(webhook, clinic) }),
      },
    )
    if (!rotated) throw new ApiError('webhook_not_found')
    return rotated instanceof StoredResponse ? rotated : { data: renderWebhookWithSecret(rotated, clinic) }
  },
)
