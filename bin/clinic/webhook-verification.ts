import { createHmac, timingSafeEqual } from 'node:crypto'

const TOLERANCE_SECONDS = 5 * 60

/**
 * Throws, and says why, unless the webhook was signed with the secret within the last five minutes. Takes the body as
 * it came, before anything has parsed it. For any receiver to copy: all it needs is Node.
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
  if (!(Math.abs(age) <= TOLERANCE_SECONDS)) throw new Error('The timestamp is more than five minutes off')

  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  const expected = Buffer.from(`v1,${signature}`)
  // There are several while a secret is being replaced. The comparison takes as long for a near miss as for a far one.
  const isExpected = (text: string): boolean => {
    const given = Buffer.from(text)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
  if (!String(signatures).split(' ').some(isExpected))
    throw new Error('The signature is not of this body and this secret')
}
