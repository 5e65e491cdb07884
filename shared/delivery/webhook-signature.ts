import { createHmac, randomBytes } from 'node:crypto'
import { SECRET_PREFIX, secretBytes } from '../domain/webhook-secret.ts'

export type SignatureInput = {
  /** The same at every attempt, so that receivers know a repetition. */
  readonly id: string
  /** Of this attempt, in whole seconds since 1970: receivers refuse what is older than minutes. */
  readonly timestampSeconds: number
  readonly body: string
  /** More than one while a secret is being replaced: receivers accept either. */
  readonly secrets: readonly string[]
}

/** The headers of Standard Webhooks. The body must be sent byte for byte as it was signed. */
export const signatureHeaders = ({ id, timestampSeconds, body, secrets }: SignatureInput) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestampSeconds),
  'webhook-signature': secrets
    .map((secret) => createHmac('sha256', secretBytes(secret)).update(`${id}.${timestampSeconds}.${body}`))
    .map((signature) => `v1,${signature.digest('base64')}`)
    .join(' '),
})

/** A secret of 256 random bits for an integrator who brings none. */
export const newSecret = (): string => `${SECRET_PREFIX}${randomBytes(32).toString('base64')}`
