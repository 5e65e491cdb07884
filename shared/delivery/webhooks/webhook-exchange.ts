/** One HTTP request to one address. */
import { type ClientRequest, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { SecureContextOptions } from 'node:tls'

/** Why there is no status. These words are all that may be logged: no part of a URL, header or body. */
export type FailureReason =
  /** Webhooks may not, or no longer, be sent to the URL. */
  | 'invalid_url'
  /** The host name has no address, or the name servers did not respond. */
  | 'dns'
  /** The host name resolves to an address that is not public. */
  | 'private_address'
  /** Nothing listens at the address. */
  | 'connection_refused'
  /** No connection could be established, or it was closed before a status was received. */
  | 'connection'
  /** The certificate has expired. */
  | 'certificate_expired'
  /** The handshake failed, or the certificate is not valid for the host name. */
  | 'tls'
  /** The response is not valid HTTP. */
  | 'protocol'
  /** No status was received in time. */
  | 'timeout'

/** The response to a webhook request. `latencyMs` is the time until its status was received. */
export type WebhookResponse = {
  readonly status: number
  /** The `retry-after` header: seconds or an HTTP date; null if it is missing or malformed. */
  readonly retryAfter: string | null
  readonly latencyMs: number
}

export type OutgoingRequest = {
  readonly url: URL
  readonly headers: Record<string, string>
  readonly body: string
  readonly deadline: AbortSignal
  /** The time allowed for connecting to one address. */
  readonly connectTimeoutMs: number
  /** Time since the attempt started. */
  readonly latencyMs: () => number
  readonly tls: Pick<SecureContextOptions, 'ca'>
}

/** `unconnected` and `connection_refused`: no connection was established, so another address may be tried. */
export type ExchangeOutcome = WebhookResponse | FailureReason | 'unconnected'

/** The limit for the headers of a response, and for its body. */
const MAX_BYTES = 16_384

const RETRY_AFTER = /^(?:\d+|[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT)$/

/** Posts the request to the address. Resolves when the connection is closed. */
export const exchange = (address: string, outgoing: OutgoingRequest): Promise<ExchangeOutcome> =>
  new Promise((resolve) => {
    const { url, body, deadline, connectTimeoutMs, latencyMs } = outgoing
    const isEncrypted = url.protocol === 'https:'
    let received: WebhookResponse | undefined
    let failure: FailureReason | undefined
    // The outcome if the connection closes now.
    let closeOutcome: FailureReason | 'unconnected' = 'unconnected'

    const request = openRequest(address, outgoing, isEncrypted)
    const fail = (reason: FailureReason) => {
      failure = reason
      request.destroy()
    }
    const connectTimer = setTimeout(() => request.destroy(), connectTimeoutMs)
    const onDeadline = () => fail('timeout')
    deadline.addEventListener('abort', onDeadline)

    request.on('socket', (socket) => {
      socket.on('connect', () => {
        clearTimeout(connectTimer)
        closeOutcome = isEncrypted ? 'tls' : 'connection'
      })
      socket.on('secureConnect', () => {
        closeOutcome = 'connection'
      })
      // Any number of 1xx responses, each with headers, may precede the final one.
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
      // An endpoint whose connection is closed while it writes may report a failure, so a short body is read to its end.
      let bytesRead = 0
      response.on('data', ({ length }: Buffer) => {
        bytesRead += length
        if (bytesRead > MAX_BYTES) request.destroy()
      })
      // The status is known, so an error in the body does not matter.
      response.on('error', () => {})
    })
    request.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') failure ??= 'connection_refused'
      if (code === 'CERT_HAS_EXPIRED') failure ??= 'certificate_expired'
      if (code.startsWith('HPE_')) failure ??= 'protocol'
      // With TLS 1.3 the server may reject the client after the client's handshake has completed.
      if (code.startsWith('ERR_SSL_')) failure ??= 'tls'
    })
    request.on('close', () => {
      clearTimeout(connectTimer)
      deadline.removeEventListener('abort', onDeadline)
      resolve(received ?? failure ?? closeOutcome)
    })
    request.end(body)
  })

function openRequest(
  address: string,
  { url, headers, body, tls }: OutgoingRequest,
  isEncrypted: boolean,
): ClientRequest {
  const send = isEncrypted ? httpsRequest : httpRequest
  return send({
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
    // No shared connection, and no proxy or certificate settings from the environment.
    agent: false,
    rejectUnauthorized: true,
    // The name to verify, since `host` is an address. Only an allowed local host has no name.
    servername: isIP(hostOf(url)) === 0 ? url.hostname : '',
    ca: tls.ca,
    maxHeaderSize: MAX_BYTES,
  })
}

/** The host as sockets expect it: an IPv6 address without brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')
