import { Resolver } from 'node:dns/promises'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { isAllowedHost, webhookUrlIssue } from '../domain/webhook-url.ts'
import { isPublicAddress } from './public-address.ts'

/** Why no status came. Fixed words: nothing of a URL, a header or a body may reach a log through them. */
export type FailureReason =
  /** The URL is not, or no longer, one that webhooks are sent to. */
  | 'invalid_url'
  /** The name has no address, or the name servers did not say. */
  | 'dns'
  /** The name leads into a network that is not public. */
  | 'private_address'
  /** No connection could be made, or it broke before a status came. */
  | 'connection'
  /** The handshake failed, or the certificate is not one of that name. */
  | 'tls'
  /** What came is not HTTP as it should be. */
  | 'protocol'
  /** No status came in time. */
  | 'timeout'

/** What became of one attempt, `latencyMs` after its begin: at the status, or at the failure. */
export type AttemptResult =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** Seconds, or an HTTP date, as the receiver wrote it; null for anything else. */
      readonly retryAfter: string | null
      readonly latencyMs: number
    }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly latencyMs: number }

export type WebhookTransport = ReturnType<typeof webhookTransport>

export type TransportSettings = {
  /** The IP addresses of a name; none, or a rejection, when there are none to be had. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
  /** `HOST:PORT` that may be on this machine, over http or https: for the local runner only. */
  readonly allowedHost?: string
  /** The most that an attempt takes, from the name to the end of the answer. */
  readonly deadlineMs?: number
  /** Milliseconds, for latencies. */
  readonly now?: () => number
  /** For tests: which addresses may be connected to, and who signs certificates. */
  readonly isAllowed?: (address: string) => boolean
  readonly tls?: Pick<SecureContextOptions, 'ca'>
}

const DEADLINE_MS = 15_000

/** The part of the deadline that one address may take to connect: the next one then has time left. */
const CONNECT_SHARE = 1 / 3
const MAX_ADDRESSES = 4

/** The most that is read of an answer's headers, and again of its body. */
const MAX_BYTES = 16_384

const RETRY_AFTER = /^(?:\d{1,9}|[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT)$/

/** Asks name servers, and no hosts file. IPv4 comes first; a family that fails is missed only if both do. */
export const dnsAddresses =
  (resolver = new Resolver({ timeout: 2_000, tries: 2 })) =>
  async (name: string): Promise<string[]> => {
    const families = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    return families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []))
  }

/**
 * Posts webhooks to addresses that strangers chose. Each attempt resolves the name anew, checks every address, and
 * connects to a checked one while the certificate is still the name's; it follows no redirect, shares no connection,
 * and knows no proxy. It rejects only for
 * headers that cannot be sent at all.
 */
export function webhookTransport({
  resolve = dnsAddresses(),
  allowedHost,
  deadlineMs = DEADLINE_MS,
  now = () => performance.now(),
  isAllowed = isPublicAddress,
  tls = {},
}: TransportSettings = {}) {
  /** `headers` are the signature's; `body` is JSON; `mostMs` may shorten the deadline. */
  async function post(
    text: string,
    headers: Record<string, string>,
    body: string,
    maxMs: number = deadlineMs,
  ): Promise<AttemptResult> {
    const started = now()
    const latencyMs = () => Math.round(now() - started)
    if (webhookUrlIssue(text, allowedHost) !== null)
      return { kind: 'failed', reason: 'invalid_url', latencyMs: latencyMs() }
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), Math.min(maxMs, deadlineMs))
    try {
      const url = new URL(text)
      const outcome = await attempt({ url, headers, body, deadline: deadline.signal, latencyMs })
      return typeof outcome === 'string'
        ? { kind: 'failed', reason: outcome, latencyMs: latencyMs() }
        : { kind: 'answered', ...outcome }
    } finally {
      clearTimeout(timer)
    }
  }

  async function attempt(outgoing: OutgoingRequest): Promise<WebhookResponse | FailureReason> {
    const timedOut = new Promise<'timeout'>((settle) => {
      outgoing.deadline.addEventListener('abort', () => settle('timeout'))
    })
    const addresses = await Promise.race([checkedAddresses(outgoing.url), timedOut])
    if (typeof addresses === 'string') return addresses
    for (const address of addresses.slice(0, MAX_ADDRESSES)) {
      const outcome = await exchange(address, outgoing)
      if (outcome !== 'unconnected') return outcome
    }
    return 'connection'
  }

  /** All addresses of the URL's host, if webhooks may go to every one of them. */
  async function checkedAddresses(url: URL): Promise<readonly string[] | FailureReason> {
    if (isAllowedHost(url, allowedHost)) return [hostOf(url)]
    const addresses = await resolve(url.hostname).catch(() => [])
    if (addresses.length === 0) return 'dns'
    return addresses.every(isAllowed) ? addresses : 'private_address'
  }

  /** One connection to one address, over once it is closed; `unconnected` while another address may be tried. */
  const exchange = (address: string, { url, headers, body, deadline, latencyMs }: OutgoingRequest) =>
    new Promise<WebhookResponse | FailureReason | 'unconnected'>((settle) => {
      const encrypted = url.protocol === 'https:'
      let received: WebhookResponse | undefined
      let failure: FailureReason | undefined
      // What it means when the connection breaks now.
      let closeOutcome: FailureReason | 'unconnected' = 'unconnected'

      const request = (encrypted ? httpsRequest : httpRequest)({
        method: 'POST',
        host: address,
        port: url.port,
        path: url.pathname + url.search,
        headers: {
          ...headers,
          host: url.host,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'clinic-developer-api-webhooks/1',
        },
        // Neither a connection of someone else's, nor what the environment says of proxies and certificates.
        agent: false,
        rejectUnauthorized: true,
        // Sent and verified in place of the address; only an allowed host has no name.
        servername: isIP(hostOf(url)) === 0 ? url.hostname : '',
        ca: tls.ca,
        maxHeaderSize: MAX_BYTES,
      })
      const fail = (reason: FailureReason) => {
        failure = reason
        request.destroy()
      }
      const connectTimer = setTimeout(() => request.destroy(), deadlineMs * CONNECT_SHARE)
      const onDeadline = () => fail('timeout')
      deadline.addEventListener('abort', onDeadline)

      request.on('socket', (socket) => {
        socket.on('connect', () => {
          clearTimeout(connectTimer)
          closeOutcome = encrypted ? 'tls' : 'connection'
        })
        socket.on('secureConnect', () => {
          closeOutcome = 'connection'
        })
        // Any number of 1xx answers may come before the one that counts, each with headers.
        request.on('information', () => socket.bytesRead > MAX_BYTES && fail('protocol'))
      })
      request.on('response', (response) => {
        const { statusCode: status = 0, headers } = response
        if (status < 200 || status > 599) return fail('protocol')
        const retryAfter = headers['retry-after'] ?? ''
        received = {
          status,
          retryAfter: RETRY_AFTER.test(retryAfter) ? retryAfter : null,
          latencyMs: latencyMs(),
        }
        // A receiver that is cut off while it writes may take that for a failure; so a short body is heard out.
        let bytesRead = 0
        response.on('data', ({ length }: Buffer) => {
          bytesRead += length
          if (bytesRead > MAX_BYTES) request.destroy()
        })
        // The status came; what happens to its body does not matter.
        response.on('error', () => {})
      })
      request.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
        if (code.startsWith('HPE_')) failure ??= 'protocol'
        // Since TLS 1.3 a server may refuse after its side of the handshake.
        if (code.startsWith('ERR_SSL_')) failure ??= 'tls'
      })
      request.on('close', () => {
        clearTimeout(connectTimer)
        deadline.removeEventListener('abort', onDeadline)
        settle(received ?? failure ?? closeOutcome)
      })
      request.end(body)
    })

  return { post }
}

type WebhookResponse = Pick<AttemptResult & { kind: 'answered' }, 'status' | 'retryAfter' | 'latencyMs'>

type OutgoingRequest = {
  readonly url: URL
  readonly headers: Record<string, string>
  readonly body: string
  readonly deadline: AbortSignal
  readonly latencyMs: () => number
}

/** The host as sockets know it: IPv6 without brackets. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')
