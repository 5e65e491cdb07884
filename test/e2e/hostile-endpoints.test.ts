/** Webhook endpoints that misbehave, and the secrets that sign, over HTTP on the local stack. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { issueCredential } from '../support/credentials.ts'
import { get, post, type RunningStack, runStack } from '../support/local-stack.ts'
import { newClinic } from '../support/table.ts'
import { drip, httpText } from '../support/webhook-receiver.ts'

type Expected = {
  status: number | null
  error?: string | RegExp
  delivery?: 'pending' | 'delivered' | 'failed'
}
type Endpoint = readonly [name: string, respond: (socket: Socket) => void, expected: Expected]

const send =
  (status: string, headers: string[] = [], body = '') =>
  (socket: Socket) =>
    void socket.end(httpText(status, headers, body))
const sendRaw = (text: string) => (socket: Socket) => void socket.end(text)
const failsBy = (error: string | RegExp): Expected => ({ status: null, error })
const METADATA = 'location: http://169.254.169.254/latest/meta-data/'

/** The behaviour of each endpoint, and the first attempt in the list of deliveries. */
const ENDPOINTS: readonly Endpoint[] = [
  ['redirects to instance metadata', send('301 Moved', [METADATA]), { status: 301 }],
  ['redirects with 302', send('302 Found', [METADATA]), { status: 302 }],
  ['redirects with 303', send('303 See Other', [METADATA]), { status: 303 }],
  ['redirects with 307', send('307 Temporary', [METADATA]), { status: 307 }],
  ['redirects with 308', send('308 Permanent', [METADATA]), { status: 308 }],
  ['returns 400', send('400 Bad', [], 'canary-answer'), { status: 400 }],
  ['returns 401 with a challenge', send('401 No', ['www-authenticate: Basic']), { status: 401 }],
  ['returns 404', send('404 Missing', [], '<script>canary-answer</script>'), { status: 404 }],
  ['returns 410', send('410 Gone'), { status: 410, delivery: 'failed' }],
  ['asks for a delay of 30 years', send('429 Later', ['retry-after: 999999999']), { status: 429 }],
  ['asks for a negative delay', send('503 Later', ['retry-after: -1']), { status: 503 }],
  ['asks for no valid delay', send('503 Later', ['retry-after: canary-answer']), { status: 503 }],
  ['returns 500 and 5 MB', send('500 No', [], 'x'.repeat(5_000_000)), { status: 500 }],
  ['returns 200 and 5 MB', send('200 OK', [], 'x'.repeat(5_000_000)), { status: 200, delivery: 'delivered' }],
  [
    'returns 200 and garbage',
    send('200 OK', ['transfer-encoding: chunked'], 'canary-answer'),
    { status: 200, delivery: 'delivered' },
  ],
  [
    'sets cookies',
    send('204 OK', Array(50).fill('set-cookie: canary-answer=1')),
    { status: 204, delivery: 'delivered' },
  ],
  ['returns status 600', send('600 Much'), failsBy('protocol')],
  ['is an SSH server', sendRaw('SSH-2.0-OpenSSH_9.6\r\n'), failsBy('protocol')],
  ['speaks HTTP/0.9', sendRaw('<html>canary-answer</html>'), failsBy('protocol')],
  [
    'has two content lengths',
    send('200 OK', ['content-length: 1', 'content-length: 2']),
    failsBy('protocol'),
  ],
  ['has a header of 17 KB', send('200 OK', [`x: ${'y'.repeat(17_000)}`]), failsBy('protocol')],
  ['has 2,000 headers', send('200 OK', Array(2000).fill('x: canary-answer')), failsBy('protocol')],
  ['resets the connection', (socket) => void socket.resetAndDestroy(), failsBy(/connection|protocol/)],
  ['closes within the status line', sendRaw('HTTP/1.1 20'), failsBy(/connection|protocol/)],
  ['never responds', () => {}, failsBy('timeout')],
  ['drips its headers', (socket) => drip(socket as never, 'HTTP/1.1 200 OK\r\nx: '), failsBy('timeout')],
]

let stack: RunningStack
let server: Server
let host: string
const sockets = new Set<Socket>()
/** The requests of `/ok`, with their headers. */
const received: { headers: Record<string, string>; body: string }[] = []

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
      const [head = '', body] = text.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
      if (body === undefined || Buffer.byteLength(body) < length) return
      text = ''
      const at = /^POST \/(\w+)/.exec(head)?.[1]
      if (at !== 'ok') return ENDPOINTS[Number(at)]?.[1](socket)
      const headers = head
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(': ') as [string, string])
      received.push({
        headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
        body,
      })
      send('204 No Content')(socket)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  stack = await runStack({ demo: false, allowedWebhookHost: host })
})
afterAll(async () => {
  await stack?.close()
  for (const socket of sockets) socket.destroy()
  server?.close()
})

async function newPair(): Promise<string> {
  const { key, secret } = await issueCredential(stack.table, await newClinic(stack.table))
  return `${key}:${secret}`
}

async function create(pair: string, path: string): Promise<{ id: string; secret: string }> {
  const { status, body } = await post(
    stack,
    '/webhooks',
    { url: `http://${host}/${path}`, events: ['patient.created'] },
    { pair },
  )
  expect(status).toBe(201)
  return body.data
}

const ping = async (pair: string, id: string) =>
  expect((await post(stack, `/webhooks/${id}/ping`, {}, { pair })).status).toBe(202)

it('records the documented outcome of each of 26 hostile endpoints, and delivers to a healthy one meanwhile', async () => {
  expect(ENDPOINTS.length).toBe(26)
  // A clinic can have 20 endpoints.
  const pairs = [await newPair(), await newPair()] as const
  const endpoints = []
  for (const at of ENDPOINTS.keys()) {
    const pair = pairs[at % 2] as string
    const { id } = await create(pair, String(at))
    endpoints.push({ pair, id })
    await ping(pair, id)
  }
  const healthy = await create(pairs[0], 'ok')
  await ping(pairs[0], healthy.id)
  await vi.waitFor(() => expect(received.length).toBe(1), { timeout: 30_000, interval: 50 })
  const outcomes: unknown[] = []
  const texts: string[] = []
  for (const [at, { pair, id }] of endpoints.entries()) {
    const [name, , { status, error }] = ENDPOINTS[at] as Endpoint
    const path = `/webhooks/${id}/deliveries`
    const first = async () => (await get(stack, path, pair)).body.data[0]
    await vi.waitFor(async () => expect((await first()).attempts).not.toEqual([]), {
      timeout: 90_000,
      interval: 250,
    })
    const { attempts, status: delivery, next_attempt_at: next } = await first()
    texts.push((await get(stack, path, pair)).text)
    const [attempt] = attempts
    const isExpectedError =
      error === undefined ? attempt.error === null : new RegExp(error).test(attempt.error)
    outcomes.push([name, attempt.response_status, isExpectedError, delivery])
    // Never later than a day, whatever the endpoint asks for.
    if (next) expect(Date.parse(next) - Date.now()).toBeLessThan(25 * 3_600_000)
    expect([name, attempt.response_status]).toEqual([name, status])
  }
  expect(outcomes).toEqual(
    ENDPOINTS.map(([name, , { status, delivery = 'pending' }]) => [name, status, true, delivery]),
  )
  // Nothing of a response is stored or logged but its status.
  expect(texts.join('')).not.toContain('canary')
  expect(stack.log.join('\n')).not.toMatch(/canary|^[\d:]+ {2}5\d\d /m)
}, 240_000)

it('signs with all four secrets after three rotations, and rejects the fourth rotation', async () => {
  const pair = await newPair()
  const { id, secret } = await create(pair, 'ok')
  const secrets = [secret]
  const rotate = () => post(stack, `/webhooks/${id}/rotate-secret`, {}, { pair })
  for (let n = 0; n < 3; n++) secrets.push((await rotate()).body.data.secret)
  const rejected = await rotate()
  expect([rejected.status, rejected.body.error]).toEqual([409, 'TOO_MANY_ROTATIONS'])
  expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(23 * 3600)
  received.length = 0
  await ping(pair, id)
  await vi.waitFor(() => expect(received.length).toBe(1), { timeout: 30_000, interval: 50 })
  const [{ headers, body }] = received as [(typeof received)[number]]
  expect(headers['webhook-signature']?.split(' ').length).toBe(4)
  for (const one of secrets)
    expect(new Webhook(one).verify(body, headers)).toMatchObject({ event: 'webhook.ping' })
})
