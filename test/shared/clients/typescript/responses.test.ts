/** The client against a server whose responses are broken: every call ends with a result or with an error of a known class. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import {
  ApiError,
  createClient,
  NoResponseError,
  UnexpectedResponseError,
} from '../../../../shared/clients/typescript/client.ts'

type Respond = (response: ServerResponse) => void

let respond: Respond
let received: { line: string; key: unknown }[] = []
const server = createServer((request, response) => {
  received.push({ line: `${request.method} ${request.url}`, key: request.headers['idempotency-key'] })
  request.resume().on('end', () => respond(response))
})
let baseUrl: string
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  received = []
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const clientOf = (options: object = {}) => createClient({ baseUrl, credential: 'ck_1:cs_1', ...options })
const send =
  (status: number, body = '', headers: Record<string, string> = {}): Respond =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
const error = (key: string, fields = '') =>
  `{"error":"CODE","message":"errors.developer_api.${key}"${fields}}`
const HTML = '<html><body>Bad gateway</body></html>'
const cut: Respond = (response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{"data":')
  setTimeout(() => response.destroy(), 10)
}
const NESTED = '['.repeat(50_000) + ']'.repeat(50_000)
const NOW = 'Mon, 04 May 2026 10:00:00 GMT'

async function collected(list: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const one of list) all.push(one)
  return all
}

const ONCE = [1, 1, 1] as const
const UNEXPECTED = ['UnexpectedResponseError', ONCE] as const
const after = (seconds: string, date = NOW) => ({ date, 'retry-after': seconds })

/** The error of a GET, a POST and a DELETE, and how many requests each sends with one retry. */
const CASES: [
  what: string,
  respond: Respond,
  name: string,
  requests: readonly [get: number, post: number, del: number],
][] = [
  ['a cut body', cut, 'ConnectionFailedError', [2, 2, 1]],
  ['a cut body without a length', send(200, '{"data":{"id":'), ...UNEXPECTED],
  ['no response', (response) => response.destroy(), 'ConnectionFailedError', [2, 2, 1]],
  ['a slow body', (response) => response.writeHead(200).write('{'), 'RequestTimeoutError', [2, 2, 1]],
  ['no headers for ever', () => {}, 'RequestTimeoutError', [2, 2, 1]],
  ['HTML with status 200', send(200, HTML, { 'content-type': 'text/html' }), ...UNEXPECTED],
  ['text with status 200', send(200, '"OK"'), ...UNEXPECTED],
  ['a list instead of an object', send(200, '[]'), ...UNEXPECTED],
  ['null', send(200, 'null'), ...UNEXPECTED],
  ['a number', send(201, '7'), ...UNEXPECTED],
  ['an object of another API', send(200, '{"message":"OK"}'), ...UNEXPECTED],
  ['a list as one record', send(200, '{"data":[]}'), ...UNEXPECTED],
  ['no record', send(200, '{"data":null}'), ...UNEXPECTED],
  ['text as a record', send(200, '{"data":"OK"}'), ...UNEXPECTED],
  ['a redirect', send(302, '', { location: '/elsewhere' }), ...UNEXPECTED],
  ['a permanent redirect', send(308, '', { location: '/elsewhere' }), ...UNEXPECTED],
  ['304 to a request without an etag', send(304), ...UNEXPECTED],
  ['HTML of a proxy with 502', send(502, HTML), 'ServerError', [2, 2, 1]],
  ['an empty 503', send(503), 'ServerError', [2, 2, 1]],
  ['503 for longer than a minute', send(503, error('unavailable'), after('61')), 'ServerError', ONCE],
  ['a paused clinic', send(503, error('clinic_paused')), 'ServerError', [2, 2, 2]],
  ['an empty 500', send(500), 'ServerError', [2, 2, 1]],
  ['504', send(504, error('timeout')), 'ServerError', [2, 2, 1]],
  ['429 with a past date', send(429, error('rate_limited'), after(NOW)), 'RateLimitError', [2, 2, 2]],
  [
    '429 in an hour',
    send(429, error('rate_limited'), after(NOW.replace('10:', '11:'))),
    'RateLimitError',
    ONCE,
  ],
  ['429 with an unreadable date', send(429, '', { 'retry-after': 'soon' }), 'RateLimitError', [2, 2, 2]],
  ['HTML with 404', send(404, HTML), 'NotFoundError', ONCE],
  ['the error of another API', send(401, '{"message":"Forbidden"}'), 'AuthenticationError', ONCE],
  ['details of a wrong type', send(422, error('validation', ',"details":"none"')), 'ValidationError', ONCE],
  [
    'details of no object',
    send(409, error('slot_unavailable', ',"details":[null,1,"a"]')),
    'ConflictError',
    ONCE,
  ],
  ['an error whose message is no text', send(403, '{"error":1,"message":{}}'), 'PermissionDeniedError', ONCE],
  [
    'an error of objects',
    send(422, error('validation', ',"details":[{"issue":{"toString":1}}],"details_omitted":{"toString":1}')),
    'ValidationError',
    ONCE,
  ],
  ['deep details', send(422, error('validation', `,"details":[{"a":${NESTED}}]`)), 'ValidationError', ONCE],
  ['400', send(400, error('invalid_params')), 'BadRequestError', ONCE],
  ['a request in progress', send(409, error('idempotency_in_progress')), 'ConflictError', [2, 2, 1]],
  ['413 of the gateway', send(413, HTML), 'BadRequestError', ONCE],
]

it.each(CASES)('%s', async (_what, broken, name, requests) => {
  respond = broken
  const timeout = name === 'RequestTimeoutError' ? 200 : 10_000
  const clinic = clientOf({ retries: 1, timeout })
  const calls = [() => clinic.me(), () => clinic.patients.activate('p1'), () => clinic.webhooks.delete('w1')]
  const lines = [
    'GET /api/developer/v1/me',
    'POST /api/developer/v1/patients/p1/activate',
    'DELETE /api/developer/v1/webhooks/w1',
  ]
  for (const [at, call] of calls.entries()) {
    received = []
    const thrown = await call().catch((reason: unknown) => reason)
    expect(thrown).toBeInstanceOf(
      name.startsWith('Re') || name.startsWith('Conn') ? NoResponseError : ApiError,
    )
    expect((thrown as Error).name).toBe(name)
    // The same route each time, and the same idempotency key.
    expect(received.map(({ line }) => line)).toEqual(Array(requests[at]).fill(lines[at]))
    expect(new Set(received.map(({ key }) => key)).size).toBe(1)
  }
})

it('a success without a record is an error, of a DELETE any but 204', async () => {
  respond = send(200)
  const clinic = clientOf({ retries: 1 })
  const failure = { name: 'UnexpectedResponseError' }
  await expect(clinic.me()).rejects.toMatchObject({ ...failure, mayHaveTakenEffect: false })
  for (const change of [clinic.patients.activate('p1'), clinic.webhooks.delete('w1')])
    await expect(change).rejects.toMatchObject({ ...failure, mayHaveTakenEffect: true })
  respond = send(204)
  expect(await clinic.webhooks.delete('w1')).toBeUndefined()
})

it('a request that is in progress may have taken effect', async () => {
  respond = send(409, error('idempotency_in_progress'))
  const clinic = clientOf({ retries: 0 })
  const activation = clinic.patients.activate('p1')
  await expect(activation).rejects.toMatchObject({ status: 409, mayHaveTakenEffect: true })
})

it.each([
  ['changing cursors', (n: number) => `{"data":[],"meta":{"next_after":"${n % 2}","has_more":true}}`, 3],
  ['a cursor that is no text', () => '{"data":[],"meta":{"next_after":{},"has_more":true}}', 1],
  ['no position', () => '{"data":[{}],"meta":{}}', 1],
  ['a wrong number of pages', () => '{"data":[{}],"meta":{"total_pages":"9"}}', 1],
  ['one record as a list', () => '{"data":{},"meta":{}}', 1],
  ['pages without meta', () => '{"data":[]}', 1],
])('a list of %s ends with an error', async (_what, bodyOf, requests) => {
  respond = (response) => send(200, bodyOf(received.length))(response)
  const clinic = clientOf({ retries: 0 })
  await expect(collected(clinic.patients.all())).rejects.toBeInstanceOf(UnexpectedResponseError)
  expect(received).toHaveLength(requests)
})

it('a list that is no page is returned with its meta, of a schedule and of a sync', async () => {
  const body = { data: [], meta: {} }
  respond = send(200, JSON.stringify(body))
  const clinic = clientOf({ retries: 0 })
  expect(await clinic.doctors.schedule('d1', { date: '2026-01-01' })).toEqual(body)
  expect(await clinic.sync.write({ entity: 'patients', records: [] })).toEqual(body)
})

it('a list ends at an empty page, whatever the number of pages', async () => {
  respond = send(200, '{"data":[],"meta":{"total_pages":1000000}}')
  const clinic = clientOf()
  expect(await collected(clinic.doctors.all())).toEqual([])
  expect(received).toHaveLength(1)
})

it('changes whose as_of does not advance end with an error', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const body = '{"data":[],"meta":{"next_after":null,"has_more":false,"as_of":"2026-05-04T10:00:00Z"}}'
  const fetch = async () => new Response(body, { headers: { 'content-type': 'application/json' } })
  const clinic = clientOf({ fetch })
  const changes = collected(clinic.patients.changes({ since: '2026-05-01T00:00:00Z' }))
  const end = expect(changes).rejects.toBeInstanceOf(UnexpectedResponseError)
  await vi.advanceTimersByTimeAsync(21_000)
  await end
  vi.useRealTimers()
})

it('options that are missing are a TypeError that says so', async () => {
  expect(() => createClient(undefined as never)).toThrow(/^options must be/)
  const clinic = clientOf()
  await expect(clinic.patients.changes(undefined as never).next()).rejects.toThrow(/^since must be/)
})

it('nothing is sent with an option that is wrong', async () => {
  respond = send(200, '{"data":{}}')
  const clinic = clientOf()
  const signals = [{}, 5000, new AbortController()].map((signal) => ({ signal }))
  for (const options of [...signals, { ifmatch: '"1"' }] as object[])
    await expect(clinic.patients.activate('p1', options)).rejects.toThrow(Object.keys(options)[0])
  expect(received).toEqual([])
})
