import { createHmac, randomBytes } from 'node:crypto'
import { SECRET_PREFIX, secretBytes } from '../../domain/webhooks/webhook-secret.ts'

export type SignatureInput = {
  /** The event's id, identical at every attempt, so that endpoints can detect duplicates. */
  readonly id: string
  /** The time of the attempt in whole seconds since the epoch: endpoints reject requests older than a few minutes. */
  readonly timestampSeconds: number
  readonly body: string
  /** Two during a rotation: endpoints accept a signature with either. */
  readonly secrets: readonly string[]
}

/** The headers of the Standard Webhooks specification. The body must be sent exactly as it was signed. */
export const signatureHeaders = ({ id, timestampSeconds, body, secrets }: SignatureInput) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestampSeconds),
  'webhook-signature': secrets
    .map((secret) => createHmac('sha256', secretBytes(secret)).update(`${id}.${timestampSeconds}.${body}`))
    .map((signature) => `v1,${signature.digest('base64')}`)
    .join(' '),
})

/** A secret of 256 random bits, for webhooks created without one. */
export const newWebhookSecret = (): string => `${SECRET_PREFIX}${randomBytes(32).toString('base64')}`
