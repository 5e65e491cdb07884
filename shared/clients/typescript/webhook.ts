/** Verifies deliveries signed as in Standard Webhooks, with the crypto that every server runtime has. */

/** Seconds that a delivery's time may be off. */
const TOLERANCE = 300

export type SignedDelivery = {
  readonly headers: Headers | Readonly<Record<string, string | string[] | undefined>>
  /** As it came, before anything parsed it. */
  readonly body: string
  /** As the API showed it once, or your own. */
  readonly secret: string
  /** Milliseconds since the epoch; now unless given. */
  readonly now?: number
}

/**
 * The event of a delivery that was signed with the secret within the last five minutes.
 * @throws Error that says what is wrong with it
 */
export async function verifyWebhook<E = unknown>({
  headers,
  body,
  secret,
  now = Date.now(),
}: SignedDelivery): Promise<E> {
  const header = (name: string) =>
    String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? '')
  const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')]
  if (!(Math.abs(now / 1000 - Number(timestamp || Number.NaN)) <= TOLERANCE))
    throw new Error('The webhook’s time is missing, or more than five minutes off')
  const bytes = secret.startsWith('whsec_')
    ? Uint8Array.from(atob(secret.slice(6)), (character) => character.charCodeAt(0))
    : new TextEncoder().encode(secret)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  // There are several while a secret is being replaced.
  for (const signature of header('webhook-signature').split(' ')) {
    if (!signature.startsWith('v1,')) continue
    let signatureBytes: Uint8Array<ArrayBuffer>
    try {
      signatureBytes = Uint8Array.from(atob(signature.slice(3)), (character) => character.charCodeAt(0))
    } catch {
      continue
    }
    // Compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, signatureBytes, content)) return JSON.parse(body) as E
  }
  throw new Error('The webhook is not signed with this secret')
}
