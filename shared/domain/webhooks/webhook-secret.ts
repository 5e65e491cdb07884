/** Secrets of webhooks as in the Standard Webhooks specification: `whsec_` and base64, or the integrator's own text. */

export const SECRET_PREFIX = 'whsec_'

const VISIBLE_ASCII = /^[\x21-\x7e]{16,256}$/

export const MIN_SECRET_BYTES = 24
export const MAX_SECRET_BYTES = 64

/** The reason why a text is not a valid secret; null if it is valid. */
export function secretIssue(text: string): string | null {
  if (!VISIBLE_ASCII.test(text)) return 'must be 16 to 256 visible ASCII characters without spaces'
  // Text around it was copied too: the endpoint would verify with another key.
  if (text.lastIndexOf(SECRET_PREFIX) > 0) return 'must begin with whsec_, or not contain it'
  if (!text.startsWith(SECRET_PREFIX)) return null
  const bytes = decodeSecret(text)
  // Decoders differ in how they treat malformed base64, and the endpoint's must produce the same bytes.
  if (bytes.toString('base64') !== text.slice(SECRET_PREFIX.length))
    return 'must be valid, padded base64 after whsec_'
  if (bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES)
    return `must hold ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes of base64 after whsec_`
  return null
}

/** The signing key: the decoded bytes after `whsec_`, or the bytes of any other text (the raw format of verifiers). */
export const secretBytes = (secret: string): Uint8Array =>
  secret.startsWith(SECRET_PREFIX) ? decodeSecret(secret) : Buffer.from(secret)

const decodeSecret = (secret: string) => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
