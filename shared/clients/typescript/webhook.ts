/** Verifies Standard Webhooks signatures with Web Crypto, which all server runtimes provide. */

/** The largest accepted difference between a delivery's timestamp and the current time, in seconds. */
const TOLERANCE = 300

export type SignedDelivery = {
  readonly headers: Headers | Readonly<Record<string, string | string[] | undefined>>
  /** The raw body, exactly as received. */
  readonly body: string
  /** The secret that the API returned when the endpoint was created, or the one you chose. */
  readonly secret: string
  /** Milliseconds since the epoch. Defaults to the current time. */
  readonly now?: number
}

/**
 * Verifies a delivery and returns its event.
 * @throws Error if the signature does not match the secret, or the timestamp is more than five minutes off
 */
export async function verifyWebhook<E = unknown>({
  headers,
  body,
  secret,
  now = Date.now(),
}: SignedDelivery): Promise<E> {
  const header = (name: string) =>
    String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? '')
  const id = header('webhook-id')
  const timestamp = header('webhook-timestamp')
  if (!(Math.abs(now / 1000 - Number(timestamp || Number.NaN)) <= TOLERANCE))
    throw new Error('The webhook timestamp is missing or more than five minutes off')
  const bytes = secret.startsWith('whsec_')
    ? Uint8Array.from(atob(secret.slice(6)), (character) => character.charCodeAt(0))
    : new TextEncoder().encode(secret)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  // There are several signatures for 24 hours after a secret rotation.
  for (const signature of header('webhook-signature').split(' ')) {
    if (!signature.startsWith('v1,')) continue
    let signatureBytes: Uint8Array<ArrayBuffer>
    try {
      const digest = atob(signature.slice(3))
      // Accepts only the standard encoding: the last character has bits that decoding ignores.
      if (btoa(digest) !== signature.slice(3)) continue
      signatureBytes = Uint8Array.from(digest, (character) => character.charCodeAt(0))
    } catch {
      continue
    }
    // Compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, signatureBytes, content)) return JSON.parse(body) as E
  }
  throw new Error('The webhook signature does not match the secret')
}
