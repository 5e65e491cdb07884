import { ApiError } from '../shared/api/errors.ts'
import { renderWithSecret, rotateWebhookSecret } from '../shared/api/webhooks.ts'
import { newSecret } from '../shared/delivery/webhook-signature.ts'
import { KeptAnswer } from '../shared/domain/stored-response.ts'
import { ROTATION_MS } from '../shared/domain/webhook.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  rotateWebhookSecret,
  { webhooks: webhookStore },
  async ({ clinicId, clinic, path, body, now, once }, { webhooks }) => {
    const secret = body.secret ?? newSecret()
    const until = new Date(now + ROTATION_MS).toISOString()
    const rotated = await webhooks.changeOnce(
      clinicId,
      path.id,
      (before) => ({
        ...before,
        secret,
        previousSecret: { secret: before.secret, until },
        updatedAt: new Date(now).toISOString(),
      }),
      { once, status: 200, answer: (webhook) => ({ data: renderWithSecret(webhook, clinic) }) },
    )
    if (!rotated) throw new ApiError('webhook_not_found')
    return rotated instanceof KeptAnswer ? rotated : { data: renderWithSecret(rotated, clinic) }
  },
)
