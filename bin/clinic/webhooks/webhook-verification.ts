import { createHmac, timingSafeEqual } from 'node:crypto'

const TOLERANCE_SECONDS = 5 * 60

/**
 * Throws with the reason unless the webhook was signed with the secret within the last five minutes. `body` is the raw
 * request body, before parsing. Copy it into your webhook endpoint: it needs only Node.
 */
export function verifyWebhook(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string | Uint8Array,
  secret: string,
  now = Date.now(),
): void {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (!id || !timestamp || !signatures) throw new Error('The signature is missing')

  const age = now / 1000 - Number(timestamp)
  if (!(Math.abs(age) <= TOLERANCE_SECONDS)) throw new Error('The timestamp is over five minutes off')

  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  const expected = Buffer.from(`v1,${signature}`)
  // There are several signatures while a secret is being rotated. Compare in constant time.
  const isExpected = (text: string): boolean => {
    const given = Buffer.from(text)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
  if (!String(signatures).split(' ').some(isExpected))
    throw new Error('The signature does not match this body and secret')
}
