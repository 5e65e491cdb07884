/** Verifies Standard Webhooks signatures with Web Crypto, which all server runtimes provide. */
import type { webhooks } from './schema.ts'

/** The largest accepted difference between a delivery's timestamp and the current time, in seconds. */
const TOLERANCE = 300

/** An event of the API document. Its `event` decides the type of its `data`. Ignore events that you do not know: there will be more. */
export type WebhookEvent = {
  [E in keyof webhooks]: webhooks[E]['post']['requestBody']['content']['application/json']
}[keyof webhooks]

export type SignedDelivery = {
  /** The headers of the request, of Node, Express or fetch. */
  readonly headers:
    | { readonly get: (name: string) => string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The raw body, exactly as received, before it is parsed. */
  readonly body: string | Uint8Array | ArrayBuffer
  /** The secret that the API returned when the endpoint was created, or the one you chose. */
  readonly secret: string
  /** Milliseconds since the epoch. Defaults to the current time. */
  readonly now?: number
}

/** The delivery is not signed with the secret, its time is more than five minutes off, or it is not an event. Respond with 400. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

/**
 * Verifies a delivery and returns its event.
 * @throws WebhookVerificationError if the delivery does not come from the API
 * @throws TypeError if an argument is wrong, such as a body that was parsed
 */
export async function verifyWebhook({
  headers,
  body,
  secret,
  now = Date.now(),
}: SignedDelivery): Promise<WebhookEvent> {
  const header = headerReader(headers)
  const id = header('webhook-id')
  const timestamp = header('webhook-timestamp')
  const signatures = header('webhook-signature')
  const key = await keyOf(secret)
  const bytes = bytesOf(body)
  if (!id || !timestamp || !signatures) throw new WebhookVerificationError('The signature is missing')
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= TOLERANCE))
    throw new WebhookVerificationError(
      'The timestamp is more than five minutes off the clock of this machine: correct the clock, or set the option `now`',
    )
  const signed = new TextEncoder().encode(`${id}.${timestamp}.`)
  const content = new Uint8Array(signed.length + bytes.length)
  content.set(signed)
  content.set(bytes, signed.length)
  // There are several signatures for 24 hours after a secret rotation. A comma joins headers of the same name.
  for (const [, signature = ''] of signatures.matchAll(/(?:^|[ ,])v1,([^ ,]*)/g)) {
    const digest = decodeBase64(signature)
    // Compares in constant time.
    if (digest && (await crypto.subtle.verify('HMAC', key, digest, content))) return eventOf(bytes)
  }
  throw new WebhookVerificationError('The signature does not match this body and secret')
}

function eventOf(bytes: Uint8Array): WebhookEvent {
  try {
    const event = JSON.parse(new TextDecoder().decode(bytes))
    if (typeof event.event === 'string') return event
  } catch {
    // Reported below, together with JSON that is not an event.
  }
  throw new WebhookVerificationError('The body is not an event')
}

function headerReader(headers: SignedDelivery['headers']): (name: string) => string {
  if (typeof headers?.get === 'function') {
    const { get } = headers
    return (name) => get.call(headers, name) ?? ''
  }
  const values = new Map(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
  return (name) => String(values.get(name) ?? '')
}

function bytesOf(body: SignedDelivery['body']): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  // Unlike instanceof, true for an ArrayBuffer of another realm: in tests with Jest, the global one is another.
  if (Object.prototype.toString.call(body) === '[object ArrayBuffer]') return new Uint8Array(body)
  throw new TypeError('body must be the raw body, a string or bytes, not what was parsed from it')
}

async function keyOf(secret: string) {
  const text = typeof secret === 'string' ? secret : ''
  const bytes = text.startsWith('whsec_') ? decodeBase64(text.slice(6)) : new TextEncoder().encode(text)
  if (!bytes?.length) throw new TypeError('secret must be the secret of the webhook endpoint')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Accepts only the standard encoding: the last character has bits that decoding ignores. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const decoded = atob(text)
    return btoa(decoded) === text ? Uint8Array.from(decoded, (character) => character.charCodeAt(0)) : null
  } catch {
    return null
  }
}
