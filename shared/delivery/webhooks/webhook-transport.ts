import { Resolver } from 'node:dns/promises'
import type { SecureContextOptions } from 'node:tls'
import { isAllowedHost, webhookUrlIssue } from '../../domain/webhooks/webhook-url.ts'
import { isPublicAddress } from './public-address.ts'
import {
  exchange,
  type FailureReason,
  hostOf,
  type OutgoingRequest,
  type WebhookResponse,
} from './webhook-exchange.ts'

/** The outcome of one attempt. `latencyMs` is the time until the status was received or the attempt failed. */
export type AttemptResult =
  | ({ readonly kind: 'responded' } & WebhookResponse)
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly latencyMs: number }

export type WebhookTransport = ReturnType<typeof webhookTransport>

export type TransportSettings = {
  /** Resolves a host name to IP addresses; an empty list or a rejection if it has none. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
  /** `HOST:PORT`, or `localhost` for every port of this machine, over http or https: for the local runner only. */
  readonly allowedHost?: string
  /** The time limit of an attempt, from resolving the name to the end of the response. */
  readonly deadlineMs?: number
  /** A clock in milliseconds, for latencies. */
  readonly now?: () => number
  /** The addresses that may be connected to, and the certificate authorities, in tests. */
  readonly isAllowed?: (address: string) => boolean
  readonly tls?: Pick<SecureContextOptions, 'ca'>
}

export const DEADLINE_MS = 15_000

/** The share of the deadline for connecting to one address, so that time is left for the next. */
const CONNECT_SHARE = 1 / 3
const MAX_ADDRESSES = 4

/** Queries name servers only, not the hosts file. IPv4 addresses come first; one failing family is ignored. */
export const dnsAddresses =
  (resolver = new Resolver({ timeout: 2_000, tries: 2 })) =>
  async (name: string): Promise<string[]> => {
    const families = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    return families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []))
  }

/**
 * Posts webhooks to URLs that third parties chose. Each attempt resolves the host name again, checks every address and
 * connects to a checked one, verifying the certificate against the name. It follows no redirects, reuses no connections
 * and uses no proxy. It rejects only for headers that cannot be sent.
 */
export function webhookTransport({
  resolve = dnsAddresses(),
  allowedHost,
  deadlineMs = DEADLINE_MS,
  now = () => performance.now(),
  isAllowed = isPublicAddress,
  tls = {},
}: TransportSettings = {}) {
  /** Posts a JSON body with the signature headers. `timeoutMs` can only shorten the deadline. */
  async function post(
    text: string,
    headers: Record<string, string>,
    body: string,
    timeoutMs: number = deadlineMs,
  ): Promise<AttemptResult> {
    const started = now()
    const latencyMs = () => Math.round(now() - started)
    if (webhookUrlIssue(text, allowedHost) !== null)
      return { kind: 'failed', reason: 'invalid_url', latencyMs: latencyMs() }
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), Math.min(timeoutMs, deadlineMs))
    try {
      const outcome = await attempt({
        url: new URL(text),
        headers,
        body,
        deadline: deadline.signal,
        connectTimeoutMs: deadlineMs * CONNECT_SHARE,
        latencyMs,
        tls,
      })
      return typeof outcome === 'string'
        ? { kind: 'failed', reason: outcome, latencyMs: latencyMs() }
        : { kind: 'responded', ...outcome }
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
    let reason: FailureReason = 'connection'
    for (const address of addresses.slice(0, MAX_ADDRESSES)) {
      const outcome = await exchange(address, outgoing)
      if (outcome === 'connection_refused') reason = outcome
      else if (outcome !== 'unconnected') return outcome
    }
    return reason
  }

  /** The addresses of the URL's host, if webhooks may be sent to all of them. */
  async function checkedAddresses(url: URL): Promise<readonly string[] | FailureReason> {
    if (isAllowedHost(url, allowedHost)) return [hostOf(url)]
    const addresses = await resolve(url.hostname).catch(() => [])
    if (addresses.length === 0) return 'dns'
    return addresses.every(isAllowed) ? addresses : 'private_address'
  }

  return { post }
}
