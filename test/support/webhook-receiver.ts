/** Receivers on loopback addresses, and attempts to deliver webhooks to them. */
import { once } from 'node:events'
import { createServer, connect as netConnect, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished } from 'vitest'
import { isPublicAddress } from '../../shared/delivery/webhooks/public-address.ts'
import {
  type AttemptResult,
  dnsAddresses,
  type TransportSettings,
  webhookTransport,
} from '../../shared/delivery/webhooks/webhook-transport.ts'
import { selfSigned } from './certificates.ts'
import { a, nameServer } from './name-server.ts'

export const NAME = 'hooks.example.com'
export const PORT = 8443
export const URL_TEXT = `https://${NAME}:${PORT}/in/canary-path?token=canary-query`
export const BODY = JSON.stringify({ id: 'evt_1', data: { note: 'canary-body ü €' } })
export const HEADERS = {
  'webhook-id': 'evt_canary-header',
  'webhook-timestamp': '1',
  'webhook-signature': 'v1,abc=',
}

/** Longer than any attempt that succeeds. */
export const DEADLINE_MS = 10_000

/** For tests that wait for the deadline; longer than a handshake. */
export const SHORT_MS = 900

export type ReceivedRequest = {
  head: string[]
  body: string
  serverName: string | false | undefined
  resumed: boolean
}

/**
 * A receiver at the address `receiver`, and listeners at the `watched` addresses: a test fails if anything connects to
 * these. Test files run in parallel, so each needs its own addresses.
 */
export function receiverNetwork({ receiver, watched }: { receiver: string; watched: readonly string[] }) {
  const certificate = selfSigned({ dns: NAME })
  const names = nameServer()
  const listeners: Server[] = []
  let connections: string[] = []

  beforeAll(async () => {
    await names.listen()
    for (const host of watched)
      for (const port of [443, PORT]) {
        const listener = createServer((socket) => {
          connections.push(`${host}:${port}`)
          socket.destroy()
        })
        listener.listen(port, host)
        await once(listener, 'listening').then(
          () => listeners.push(listener),
          // Ports below 1024 may be privileged, and IPv6 may be unavailable: the other listeners remain.
          (error) => expect(['EACCES', 'EADDRNOTAVAIL']).toContain(error.code),
        )
      }
    const [host = ''] = watched
    await new Promise((closed) => netConnect(PORT, host).on('close', closed).resume())
    expect(connections).toEqual([`${host}:${PORT}`])
  })

  beforeEach(() => {
    connections = []
    names.answer(({ type }) => (type === 'A' ? [a(NAME, receiver)] : []))
  })

  afterEach(() => {
    expect(connections).toEqual([])
  })

  afterAll(() => {
    for (const listener of listeners) listener.close()
    names.close()
  })

  /** Posts as in production, except that the receiver's loopback address counts as public. */
  const attempt = (settings: TransportSettings = {}, url = URL_TEXT) =>
    withoutLeaks(
      webhookTransport({
        resolve: dnsAddresses(names.resolver()),
        isAllowed: (address) => address === receiver,
        deadlineMs: DEADLINE_MS,
        tls: { ca: certificate.cert },
        ...settings,
      }).post(url, HEADERS, BODY),
    )

  /** Posts as in production. */
  const attemptForReal = (url = URL_TEXT, settings: TransportSettings = {}) =>
    attempt({ isAllowed: isPublicAddress, tls: undefined, ...settings }, url)

  /** Starts a TLS server on the receiver's address. `respond` is called for each request, or for each connection. */
  async function receives(
    respond: (socket: TLSSocket) => unknown,
    { certificate: { cert, key } = certificate, at = 'request' as 'request' | 'connection' } = {},
  ) {
    const requests: ReceivedRequest[] = []
    const server = createTlsServer({ cert, key }, (socket) => {
      let text = ''
      socket.setEncoding('utf8').on('error', () => {})
      if (at === 'connection') respond(socket)
      socket.on('data', (chunk: string) => {
        text += chunk
        const [head = '', body] = text.split('\r\n\r\n')
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
        if (body === undefined || Buffer.byteLength(body) < length) return
        requests.push({
          head: head.split('\r\n'),
          body,
          serverName: (socket as { servername?: string | false }).servername,
          resumed: socket.isSessionReused(),
        })
        if (at === 'request') respond(socket)
      })
    })
    return { requests, sockets: await listens(server) }
  }

  /** Listens on the receiver's address until the test ends. Returns the open connections, below TLS. */
  async function listens(server: Server): Promise<ReadonlySet<Socket>> {
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    })
    server.on('tlsClientError', () => {})
    server.listen(PORT, receiver)
    await once(server, 'listening')
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    })
    return sockets
  }

  return { certificate, names, attempt, attemptForReal, receives, listens }
}

/** Returns the outcome after checking that it contains nothing of the request or the response. */
async function withoutLeaks(attempted: Promise<AttemptResult>): Promise<AttemptResult> {
  const outcome = await attempted
  expect(JSON.stringify(outcome)).not.toMatch(/canary|example|hooks|127\.|::/)
  if (outcome.kind === 'failed') {
    expect(Object.keys(outcome).sort()).toEqual(['kind', 'latencyMs', 'reason'])
    expect(outcome.reason).toMatch(
      /^(dns|private_address|connection_refused|connection|certificate_expired|tls|timeout|protocol|invalid_url)$/,
    )
  } else expect(Object.keys(outcome).sort()).toEqual(['kind', 'latencyMs', 'retryAfter', 'status'])
  return outcome
}

export const fail = (): never => {
  throw new Error('nothing was received')
}

export const httpText = (status: string, headers: string[] = [], body = ''): string =>
  [`HTTP/1.1 ${status}`, ...headers, '', body].join('\r\n')

/** Writes every 100 ms: the next character of the text, or the whole text. */
export function drip(socket: Socket, text: string, { whole = false } = {}) {
  let next = 0
  const timer = setInterval(() => socket.write(whole ? text : (text[next++ % text.length] ?? '')), 100)
  socket.on('close', () => clearInterval(timer))
}

/** Makes an address neither accept nor refuse connections: its backlog is full and never read. */
export async function fillBacklog(host: string) {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
     require('node:net').createServer().listen({ host: '${host}', port: ${PORT}, backlog: 1 }, () => {
       parentPort.postMessage('listening')
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
     })`,
    { eval: true },
  )
  await once(worker, 'message')
  const fillers = Array.from({ length: 4 }, () => netConnect(PORT, host).on('error', () => {}))
  onTestFinished(async () => {
    for (const filler of fillers) filler.destroy()
    await worker.terminate()
  })
  await new Promise((filled) => setTimeout(filled, 100))
}
