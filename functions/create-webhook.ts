import { ApiError, unauthorized } from '../shared/api/errors.ts'
import {
  allowWebhookHost,
  createWebhook,
  renderStoredWebhook,
  renderWebhookWithSecret,
} from '../shared/api/webhooks.ts'
import { newWebhookSecret } from '../shared/delivery/webhooks/webhook-signature.ts'
import type { Webhook } from '../shared/domain/webhooks/webhook.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { allowedWebhookHost } from '../shared/runtime/webhooks.ts'
import { CredentialRevoked, TooManyWebhooks, webhookStore } from '../shared/store/events/webhooks.ts'

export const handler = endpoint(
  allowWebhookHost(createWebhook, allowedWebhookHost()),
  { webhooks: webhookStore },
  async ({ clinicId, clinic, credential, body, now, newId, write }, { webhooks }) => {
    const at = new Date(now).toISOString()
    const webhook: Webhook = {
      id: newId(),
      url: body.url,
      events: body.events,
      isActive: body.is_active ?? true,
      description: body.description ?? null,
      secret: body.secret ?? newWebhookSecret(),
      secretNumber: 1,
      previousSecrets: [],
      createdBy: credential.key,
      createdAt: at,
      updatedAt: at,
    }
    try {
      await webhooks.create(
        clinicId,
        webhook,
        write((created) => renderStoredWebhook(created, clinic)),
      )
      return { data: renderWebhookWithSecret(webhook, clinic) }
    } catch (error) {
      if (error instanceof TooManyWebhooks) throw new ApiError('too_many_webhooks')
      throw error instanceof CredentialRevoked ? unauthorized() : error
    }
  },
)
