import { runInNewContext } from 'node:vm'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  ApiError,
  type Client,
  type ClientOptions,
  ConflictError,
  createClient,
  NotFoundError,
  PreconditionFailedError,
  verifyWebhook,
  WebhookVerificationError,
} from '../../../../shared/clients/typescript/client.ts'
import { newWebhookSecret, signatureHeaders } from '../../../../shared/delivery/webhooks/webhook-signature.ts'

type Sent = { url: string; method: string; headers: Record<string, string>; body: any }

/** A client that receives the given responses in turn; the last one repeats. */
function clientOf(responses: (Response | Error)[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = []
  const fetch = async (url: any, init: any) => {
    sent.push({ url, method: init.method, headers: init.headers, body: init.body && JSON.parse(init.body) })
    const response = responses.length > 1 ? responses.shift() : responses[0]
    if (response instanceof Error) throw response
    return (response as Response).clone()
  }
  const client = createClient({
    baseUrl: 'https://api.example.com/prod/',
    key: 'ck_1',
    secret: 'cs_1',
    fetch,
    ...options,
  })
  return { client, sent }
}

const json = (status: number, body: object, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers })
const rejection = (status: number, key: string, headers: Record<string, string> = {}) =>
  json(status, { error: 'CODE', message: `errors.developer_api.${key}`, details: [{ field: 'x' }] }, headers)
const page = (ids: number[], page: number, total_pages: number) =>
  json(200, { data: ids.map((id) => ({ id })), meta: { page, limit: 100, total: 5, total_pages } })

/** Settles `work` without waiting, by advancing the fake clock. */
async function hurried<T>(work: Promise<T>): Promise<PromiseSettledResult<T>> {
  let settled: PromiseSettledResult<T> | undefined
  void Promise.allSettled([work]).then(([one]) => {
    settled = one
  })
  while (!settled) await vi.advanceTimersByTimeAsync(60_000)
  return settled
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** What the types of undici and node-fetch have of a response; they differ from the global ones in the rest. */
class OtherResponse {
  readonly ok = true
  readonly status = 200
  readonly headers = {
    forEach: (callback: (value: string, name: string, headers: object) => void, _this?: unknown) =>
      callback('"1"', 'etag', {}),
  }
  readonly body: NodeJS.ReadableStream | null = null
  text = async () => '{"data":{"id":"p1"}}'
}

/** The signal of node-fetch, which `tsc` with `exactOptionalPropertyTypes` tells from an AbortSignal. */
type OtherSignal = {
  aborted: boolean
  addEventListener: (type: 'abort', listener: any, options?: { once?: boolean | undefined }) => void
}

type OtherInit = {
  method?: string
  headers?: [string, string][] | Record<string, string | readonly string[]> | Iterable<[string, string]>
  body?: string | Buffer | null
  redirect?: 'error' | 'follow' | 'manual'
  signal?: OtherSignal | null
}

const otherFetch = async (_url: string | URL | OtherResponse, _init?: OtherInit) => new OtherResponse()

describe('fetch', () => {
  afterEach(() => void vi.unstubAllGlobals())

  it('is the global one at the time of the call', async () => {
    const client = createClient({ baseUrl: 'https://api.example.com', credential: 'ck_1:cs_1' })
    for (const id of ['p1', 'p2']) {
      vi.stubGlobal('fetch', async () => json(200, { data: { id } }))
      expect((await client.patients.get('p1')).data.id).toBe(id)
    }
  })

  it('is the one of the options, whose types may be those of another package', async () => {
    const options = { baseUrl: 'https://api.example.com', credential: 'ck_1:cs_1', fetch: otherFetch }
    vi.stubGlobal('fetch', () => expect.fail('the global fetch was called'))
    const { body, etag, headers } = await createClient(options).patients.get('p1').withResponse()
    expect([body.data.id, etag, headers]).toEqual(['p1', '"1"', new Headers({ etag: '"1"' })])
  })
})

describe('a request', () => {
  it('has the base path and the credential, and omits undefined parameters', async () => {
    const { client, sent } = clientOf([page([1], 1, 1)])
    await client.patients.list({ search: 'a b&c', is_active: true, limit: 5, page: undefined })
    expect(sent).toEqual([
      {
        url: 'https://api.example.com/prod/api/developer/v1/patients?search=a+b%26c&is_active=true&limit=5',
        method: 'GET',
        headers: { authorization: 'Developer ck_1:cs_1', accept: 'application/json' },
        body: undefined,
      },
    ])
  })

  it('has a random idempotency key for a POST, or the given one', async () => {
    const { client, sent } = clientOf([json(201, { data: {} })])
    await client.patients.create({ first_name: 'Ada', last_name: 'Kaya' })
    await client.patients.create({ first_name: 'Ada', last_name: 'Kaya' })
    await client.patients.create({ first_name: 'Ada', last_name: 'Kaya' }, { idempotencyKey: 'mine' })
    const keys = sent.map(({ headers }) => headers['idempotency-key'])
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
    expect(keys[1]).not.toBe(keys[0])
    expect(keys[2]).toBe('mine')
    expect(sent[0]?.headers['content-type']).toBe('application/json')
  })

  it.each([
    ['https://api.example.com', 'https://api.example.com/api/developer/v1/me'],
    ['https://api.example.com/prod/api/developer/v1/', 'https://api.example.com/prod/api/developer/v1/me'],
  ])('has the address of the API with base URL %s', async (baseUrl, url) => {
    const { client, sent } = clientOf([json(200, { data: {} })], {
      baseUrl,
      credential: 'ck_1:cs_1',
      key: undefined,
      secret: undefined,
    })
    await client.me()
    expect(sent).toMatchObject([{ url, headers: { authorization: 'Developer ck_1:cs_1' } }])
  })

  it.each([
    ['credential', { credential: undefined }],
    ['credential', { credential: 'ck_1' }],
    ['credential', { credential: 'ck_1:cs_1\n' }],
    ['credential', { key: 'ck_1', secret: 'cs_1' }],
    ['baseUrl', { baseUrl: 'api.example.com' }],
    ['baseUrl', { baseUrl: 'ftp://api.example.com' }],
    ['baseUrl', { baseUrl: 'https://api.example.com/?stage=prod' }],
    ['retries', { retries: -1 }],
    ['timeout', { timeout: 0 }],
    ['fetch', { fetch: 'node-fetch' }],
    ['cache', { cache: {} }],
    ['reads', { reads: 'no' }],
    ['baseURL', { baseURL: 'https://api.example.com' }],
  ])('is impossible with a wrong option %s: %o', (name, wrong) => {
    const options = { baseUrl: 'https://api.example.com', credential: 'ck_1:cs_1', ...wrong }
    const create = () => createClient(options as ClientOptions)
    expect(create).toThrow(TypeError)
    expect(create).toThrow(name)
    expect(create).not.toThrow('cs_1')
  })

  it.each([
    ['an id that is empty', 'id', (client: Client) => client.patients.get('')],
    ['an id that is no text', 'id', (client: Client) => client.patients.get(undefined as unknown as string)],
    ['a second id of ..', 'deliveryId', (client: Client) => client.webhooks.redeliver('w', '..')],
    ['an etag that is null', 'ifMatch', (c: Client) => c.patients.update('p', {}, { ifMatch: null })],
    [
      'a key of two lines',
      'idempotencyKey',
      (c: Client) => c.patients.activate('p', { idempotencyKey: 'a\nb' }),
    ],
  ])('is not sent with %s', async (_what, name, request) => {
    const { client, sent } = clientOf([json(200, { data: {} })])
    const { reason } = (await hurried<unknown>(request(client))) as PromiseRejectedResult
    expect(reason).toBeInstanceOf(TypeError)
    expect(reason.message).toContain(name)
    expect(sent).toEqual([])
  })

  it('shows the headers of its response', async () => {
    const headers = {
      etag: '"1"',
      location: '/prod/api/developer/v1/patients/p1',
      'x-request-id': 'r-1',
      ratelimit: '"default";r=299;t=60',
      'ratelimit-policy': '"default";q=300;w=60',
      'idempotent-replayed': 'true',
    }
    const { client, sent } = clientOf([
      json(201, { data: { id: 'p1' } }, headers),
      rejection(412, 'precondition_failed'),
    ])
    const created = await client.patients.create({ first_name: 'Ada', last_name: 'Kaya' }).withResponse()
    expect(created).toMatchObject({
      body: { data: { id: 'p1' } },
      status: 201,
      etag: '"1"',
      location: '/prod/api/developer/v1/patients/p1',
      requestId: 'r-1',
      rateLimit: { limit: 300, remaining: 299, reset: 60 },
      isReplayed: true,
    })
    const update = client.patients.update('p1', { notes: null }, { ifMatch: created.etag })
    await expect(update.withResponse()).rejects.toThrow(PreconditionFailedError)
    expect(sent[1]?.headers).toMatchObject({ 'if-match': '"1"' })
  })

  it('returns undefined for a DELETE', async () => {
    const { client, sent } = clientOf([new Response(null, { status: 204 })])
    expect(await client.webhooks.delete('id')).toBeUndefined()
    expect(sent).toMatchObject([
      { method: 'DELETE', headers: expect.not.objectContaining({ 'idempotency-key': expect.anything() }) },
    ])
  })
})

describe('an error response', () => {
  it('throws an ApiError with its status, key, details and request id', async () => {
    const { client } = clientOf([rejection(404, 'patient_not_found', { 'x-request-id': 'r-1' })])
    const { reason } = (await hurried(client.patients.get('x'))) as PromiseRejectedResult
    expect(reason).toBeInstanceOf(ApiError)
    expect(reason).toBeInstanceOf(NotFoundError)
    expect(reason).toMatchObject({
      name: 'NotFoundError',
      mayHaveTakenEffect: false,
      status: 404,
      code: 'CODE',
      key: 'patient_not_found',
      details: [{ field: 'x' }],
      requestId: 'r-1',
      retryAfter: null,
    })
  })

  it.each([
    [
      422,
      'validation',
      [
        { field: 'phone_number', issue: 'needs its country code' },
        { field: 'notes', issue: 'is too long' },
      ],
      'phone_number needs its country code; notes is too long (422, request r-1)',
    ],
    [403, 'missing_scope', [{ scope: 'patient.read' }], 'missing scope: patient.read (403, request r-1)'],
    [
      409,
      'slot_unavailable',
      [{ appointment_date: '2026-05-04', start_time: '09:00', end_time: '09:30' }],
      'slot unavailable; free instead: 2026-05-04 09:00-09:30 (409, request r-1)',
    ],
    [404, 'patient_not_found', undefined, 'patient not found (404, request r-1)'],
  ])('has a message that a person understands: %i %s', async (status, key, details, message) => {
    const body = { error: 'CODE', message: `errors.developer_api.${key}`, details }
    const { client } = clientOf([json(status, body, { 'x-request-id': 'r-1' })])
    await expect(client.patients.get('x')).rejects.toThrow(message)
  })

  it('has details of the type that belongs to its key', async () => {
    const details = [{ appointment_date: '2026-05-04', start_time: '09:00', end_time: '09:30' }]
    const body = { error: 'SLOT_UNAVAILABLE', message: 'errors.developer_api.slot_unavailable', details }
    const { client } = clientOf([json(409, body)])
    const { reason } = (await hurried(client.appointments.reopen('x'))) as PromiseRejectedResult
    const error: unknown = reason
    if (!(error instanceof ConflictError) || error.key !== 'slot_unavailable') throw error
    expect(error.details.map(({ start_time }) => start_time)).toEqual(['09:00'])
    // @ts-expect-error the key of another error
    expect(error.key === 'patient_not_found').toBe(false)
  })

  it('throws an ApiError with the code UNKNOWN if a proxy sent it', async () => {
    const { client, sent } = clientOf([new Response('<html>', { status: 403 })])
    const { reason } = (await hurried(client.patients.get('x'))) as PromiseRejectedResult
    expect([reason.status, reason.code, sent.length]).toEqual([403, 'UNKNOWN', 1])
  })
})

describe('a request is retried', () => {
  const posted = (client: ReturnType<typeof clientOf>['client']) =>
    client.messages.send({ channel: 'sms', patient_id: 'p', message: 'x' })

  it('up to three times, or as often as `retries` says', async () => {
    for (const [options, count] of [
      [{}, 4] as const,
      [{ retries: 0 }, 1] as const,
      [{ retries: 7 }, 8] as const,
    ]) {
      const { client, sent } = clientOf([rejection(503, 'unavailable')], options)
      expect((await hurried(posted(client))).status).toBe('rejected')
      expect(sent.length).toBe(count)
    }
  })

  it('not if retry-after exceeds a minute', async () => {
    const { client, sent } = clientOf([rejection(429, 'daily_message_limit', { 'retry-after': '7200' })])
    const { reason } = (await hurried(posted(client))) as PromiseRejectedResult
    expect([reason.retryAfter, sent.length]).toEqual([7200, 1])
  })

  const NOON = 'Mon, 04 May 2026 12:00:00 GMT'
  it.each([
    ['after the seconds in retry-after, plus jitter', { 'retry-after': '5' }],
    [
      'at the date in retry-after, by the clock of the sender',
      { date: NOON, 'retry-after': NOON.replace(':00 ', ':05 ') },
    ],
  ])('%s', async (_when, headers) => {
    const { client, sent } = clientOf([rejection(503, 'unavailable', headers), json(202, { data: {} })])
    const posting = posted(client)
    await vi.advanceTimersByTimeAsync(4900)
    expect(sent.length).toBe(1)
    await vi.advanceTimersByTimeAsync(400)
    expect(sent.length).toBe(2)
    await posting
  })

  it('after at most a minute, however often', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.99)
    const { client, sent } = clientOf([rejection(503, 'unavailable')], { retries: 40 })
    const start = Date.now()
    expect((await hurried(client.me())).status).toBe('rejected')
    expect([sent.length, Date.now() - start > 30 * 50_000, Date.now() - start < 41 * 60_000]).toEqual([
      41,
      true,
      true,
    ])
  })

  it('a PATCH with if-match too, because its key returns the first response', async () => {
    const { client, sent } = clientOf([new TypeError('terminated'), json(200, { data: {} })])
    expect((await hurried(client.patients.update('p', {}, { ifMatch: '"1"' }))).status).toBe('fulfilled')
    expect(sent[1]?.headers).toEqual(sent[0]?.headers)
  })

  it.each([
    ['after a response that says that nothing was changed', rejection(429, 'rate_limited'), 2, false],
    ['if it was never connected', Object.assign(new Error(), { code: 'ECONNREFUSED' }), 2, false],
    ['never after a lost connection', new TypeError('terminated'), 1, true],
    ['never after a 500', rejection(500, 'internal'), 1, true],
  ])('a DELETE %s', async (_when, failure, requests, mayHaveTakenEffect) => {
    const { client, sent } = clientOf([failure], { retries: 1 })
    const { reason } = (await hurried(client.webhooks.delete('w'))) as PromiseRejectedResult
    expect([sent.length, reason.mayHaveTakenEffect]).toEqual([requests, mayHaveTakenEffect])
  })

  it('with one signal for any number of calls, which gets one listener', async () => {
    const { client } = clientOf([rejection(500, 'internal')])
    const { signal } = new AbortController()
    const add = vi.spyOn(signal, 'addEventListener')
    await hurried(Promise.allSettled(Array.from({ length: 20 }, () => client.me({ signal }))))
    expect(add).toHaveBeenCalledTimes(1)
  })

  it('not if the signal was aborted before, and not after it is aborted in between', async () => {
    const before = clientOf([json(200, { data: {} })])
    const early = before.client.patients.get('x', { signal: AbortSignal.abort() })
    await expect(early).rejects.toMatchObject({ name: 'AbortError', mayHaveTakenEffect: false })
    expect(before.sent.length).toBe(0)

    const { client, sent } = clientOf([rejection(500, 'internal', { 'retry-after': '60' })])
    const controller = new AbortController()
    const late = client.patients.activate('x', { signal: controller.signal })
    const settled = expect(late).rejects.toMatchObject({ name: 'AbortError', mayHaveTakenEffect: true })
    await vi.advanceTimersByTimeAsync(1000)
    controller.abort()
    // Without a further second.
    await settled
    expect(sent.length).toBe(1)
  })

  it('after a timeout, even if fetch ignores the signal', async () => {
    const options = { fetch: () => new Promise<never>(() => {}), retries: 1, timeout: 500 }
    const { client } = clientOf([], options)
    const read = (await hurried(client.patients.get('x'))) as PromiseRejectedResult
    expect(read.reason).toMatchObject({ name: 'RequestTimeoutError', mayHaveTakenEffect: false })
    const change = (await hurried(client.patients.activate('x'))) as PromiseRejectedResult
    expect(change.reason).toMatchObject({ name: 'RequestTimeoutError', mayHaveTakenEffect: true })
  })
})

describe('iterating over a list', () => {
  it('requests page after page, and stops when the loop does', async () => {
    const { client, sent } = clientOf([page([1, 2], 1, 3), page([3, 4], 2, 3), page([5], 3, 3)])
    const ids = []
    for await (const { id } of client.patients.all({ search: 'x' })) ids.push(id)
    expect(ids).toEqual([1, 2, 3, 4, 5])
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      '?limit=100&search=x',
      '?limit=100&search=x&page=2',
      '?limit=100&search=x&page=3',
    ])
    const other = clientOf([page([1, 2], 1, 3)])
    for await (const _ of other.client.patients.all()) break
    expect(other.sent.length).toBe(1)
  })

  it('continues by cursor where the list has one', async () => {
    const at = (next_after: string | null) =>
      Response.json({ data: [{ id: 1 }], meta: { limit: 100, next_after } })
    const { client, sent } = clientOf([at('abc'), at('def'), at(null)])
    for await (const _ of client.patients.all({ updated_since: '2026-05-01T00:00:00Z' }));
    const since = '?limit=100&updated_since=2026-05-01T00%3A00%3A00Z'
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      since,
      `${since}&after=abc`,
      `${since}&after=def`,
    ])
  })

  it('continues the slots of a range', async () => {
    const { client, sent } = clientOf([
      json(200, { data: [{ start_time: '09:00' }], meta: { has_more: true, next_after: 'abc' } }),
      json(200, { data: [{ start_time: '10:00' }], meta: { has_more: false, next_after: null } }),
    ])
    const times: string[] = []
    for await (const { start_time } of client.availability.all({ date: '2026-05-05', doctor_id: 'd' }))
      times.push(start_time)
    expect(times).toEqual(['09:00', '10:00'])
    expect(sent.map(({ url }) => new URL(url).searchParams.get('after'))).toEqual([null, 'abc'])
  })

  it.each([
    ['without data', json(200, { meta: {} })],
    ['with the cursor of the page before', json(200, { data: [], meta: { limit: 100, next_after: 'a' } })],
  ])('ends with an error at a page %s', async (_what, broken) => {
    const { client } = clientOf([broken])
    const read = async () => {
      for await (const _ of client.patients.pages({ is_active: true, after: 'a' }));
    }
    await expect(read()).rejects.toMatchObject({ name: 'UnexpectedResponseError' })
  })

  it('is ended by a signal', async () => {
    const controller = new AbortController()
    const { client } = clientOf([page([1, 2], 1, 3)])
    const read = async () => {
      for await (const _ of client.patients.pages({}, { signal: controller.signal })) controller.abort()
    }
    await expect(read()).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('follows the cursor of a cursor list', async () => {
    const page = (ids: number[], next_after: string | null, has_more: boolean) =>
      json(200, { data: ids.map((id) => ({ id })), meta: { limit: 100, next_after, has_more } })
    const { client, sent } = clientOf([page([1], 'a', true), page([2], 'b', false)])
    const ids = []
    for await (const { id } of client.events.all()) ids.push(id)
    expect(ids).toEqual([1, 2])
    expect(sent.map(({ url }) => new URL(url).search)).toEqual(['?limit=100', '?limit=100&after=a'])
  })
})

describe('changes', () => {
  const START = '2026-05-04T10:00:00Z'
  /** A list of changes as the API shows them: those of each time, 20 seconds later. */
  function changing(changes: readonly { id: string; at: string }[]) {
    vi.setSystemTime(START)
    const queries: string[] = []
    const fetch = async (url: any) => {
      const { search, searchParams } = new URL(url)
      queries.push(decodeURIComponent(search))
      const seconds = Math.floor(Date.now() / 1000) - 20
      const as_of = new Date(seconds * 1000).toISOString().replace('.000', '')
      const since = searchParams.get('after') ?? searchParams.get('updated_since') ?? ''
      const isLater = (at: string) => (searchParams.has('after') ? at > since : at >= since)
      const found = changes.filter(({ at }) => isLater(at) && at < as_of)
      const next_after = found.length > 1 ? (found[0]?.at ?? null) : null
      const meta = { limit: 1, next_after, has_more: next_after !== null, as_of }
      return json(200, { data: found.slice(0, 1), meta })
    }
    return { client: clientOf([], { fetch: fetch as typeof globalThis.fetch }).client, queries }
  }
  const CHANGES = [
    { id: 'a', at: '2026-05-04T08:00:00Z' },
    { id: 'b', at: '2026-05-04T09:00:00Z' },
    { id: 'just before', at: '2026-05-04T09:59:59Z' },
    { id: 'afterwards', at: '2026-05-04T10:01:00Z' },
  ]

  it('returns what was changed before the first request, after waiting until it is listed', async () => {
    const { client } = changing(CHANGES)
    const read = async () => {
      const ids: string[] = []
      for await (const { data } of client.patients.changes({ since: '2026-05-04T00:00:00Z' }))
        ids.push(...data.map(({ id }) => id))
      return ids
    }
    const reading = read()
    await vi.advanceTimersByTimeAsync(22_000)
    expect(await reading).toEqual(['a', 'b', 'just before'])
  })

  it.each(['', '2026-05-04', '2026-05-04 12:00:00+03:00', undefined])(
    'rejects changes since %j',
    async (since) => {
      const { client, queries } = changing(CHANGES)
      await expect(client.patients.changes({ since: since as string }).next()).rejects.toThrow(
        /^since must be/,
      )
      expect(queries).toEqual([])
    },
  )

  it('continues at the position of a page, in the middle of a list and at its end', async () => {
    const { client, queries } = changing(CHANGES)
    const firstOf = async (since: string) => {
      for await (const page of client.patients.changes({ since })) return page
      throw new Error('there is no page')
    }
    const first = await firstOf('2026-05-04T00:00:00Z')
    const second = await firstOf(first.position)
    expect([first, second].map(({ data }) => data[0]?.id)).toEqual(['a', 'b'])
    await firstOf(second.position)
    const limit = '?limit=100&updated_since='
    expect(queries).toEqual([
      `${limit}2026-05-04T00:00:00Z`,
      `${limit}2026-05-04T00:00:00Z&after=2026-05-04T08:00:00Z`,
      `${limit}2026-05-04T09:59:40Z`,
    ])
  })

  it('follows the list until it is aborted', async () => {
    const { client } = changing(CHANGES)
    const controller = new AbortController()
    const ids: string[] = []
    const read = async () => {
      const options = { since: START, follow: true, signal: controller.signal }
      for await (const { data } of client.patients.changes(options)) ids.push(...data.map(({ id }) => id))
    }
    const reading = expect(read()).rejects.toMatchObject({ name: 'AbortError' })
    await vi.advanceTimersByTimeAsync(100_000)
    expect(ids).toEqual(['afterwards'])
    controller.abort()
    await reading
  })
})

it('has types that accept correct programs and reject wrong ones', () => {
  // Compiled, but not run.
  const program = async (client: Client): Promise<unknown[]> => {
    const references = createClient({ baseUrl: '', credential: '', reads: false })
    const total: number = (await client.patients.list({ search: 'a' })).meta.total
    const changed = await client.patients.list({ updated_since: '2026-05-04T00:00:00Z' })
    const asOf: string = changed.meta.as_of
    const appointment = (await client.appointments.list({ expand: 'patient' })).data[0]
    const phone: string | null | undefined = appointment?.patient.phone_number
    const invoice = await client.invoices.get('id', { expand: 'patient' })
    const born: string | null = invoice.data.patient.date_of_birth
    const name: string = (await client.patients.update('id', {})).data.full_name
    const sent: string | undefined = (await references.patients.update('id', {})).data.first_name
    // @ts-expect-error no total in a list of changes
    const none = changed.meta.total
    // @ts-expect-error no such parameter
    const misspelt = client.patients.list({ serach: 'a' })
    // @ts-expect-error no condition for a new record
    const unconditional = client.patients.create({ first_name: '', last_name: '' }, { ifMatch: '"1"' })
    // @ts-expect-error a credential that does not read gets no name
    const unread = (await references.patients.update('id', {})).data.full_name
    // @ts-expect-error the short form of a patient
    const unexpanded = (await client.appointments.get('id')).data.patient.phone_number
    const slots = []
    for await (const slot of client.availability.all({ treatment_id: 't', date: '', date_to: '' }))
      slots.push(slot.date.length, slot.doctor.id.length)
    const ofDoctor = (await client.availability.get({ doctor_id: 'd', date: '' })).data[0]
    // @ts-expect-error only a range of days has the dates of its slots
    const undated = ofDoctor?.date.length
    // @ts-expect-error slots of one doctor do not repeat the doctor
    const unnamed = ofDoctor?.doctor.id
    // @ts-expect-error no such parameter
    const misspeltSlots = client.availability.get({ date: '', doctorId: 'd' })
    return [
      ...[total, asOf, phone, born, name, sent, none, misspelt, unconditional, unread, unexpanded],
      ...[slots, undated, unnamed, misspeltSlots],
    ]
  }
  expect(program).toBeTypeOf('function')
})

describe('verifyWebhook', () => {
  const body = '{"id":"evt_1","event":"patient.created"}'
  const signed = (secret: string, at = Date.now(), content = body) =>
    signatureHeaders({
      id: 'evt_1',
      timestampSeconds: Math.floor(at / 1000),
      body: content,
      secrets: [secret],
    })

  it.each(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'a raw secret'])(
    'accepts a delivery signed with %s',
    async (secret) => {
      const headers = signed(secret)
      expect(await verifyWebhook({ headers, body, secret })).toEqual(JSON.parse(body))
      expect(await verifyWebhook({ headers: new Headers(headers), body, secret })).toEqual(JSON.parse(body))
      const upper = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
      )
      // Some test runners run programs in a realm of their own.
      const ofOtherRealm = runInNewContext('Uint8Array.from(bytes).buffer', { bytes: Buffer.from(body) })
      for (const bytes of [Buffer.from(body), new TextEncoder().encode(body).buffer, ofOtherRealm])
        expect(await verifyWebhook({ headers: upper, body: bytes, secret })).toEqual(JSON.parse(body))
      const [old, present] = [signed('another one that is older'), headers].map(
        (one) => one['webhook-signature'],
      )
      // Servers join headers of the same name, or return them as an array.
      for (const both of [
        `${old} ${present}`,
        `${old}, ${present}`,
        `${old},${present}`,
        [old ?? '', present ?? ''],
      ])
        expect(
          await verifyWebhook({ headers: { ...headers, 'webhook-signature': both }, body, secret }),
        ).toEqual(JSON.parse(body))
    },
  )

  it('agrees with the library of Standard Webhooks on every changed byte', async () => {
    const secret = newWebhookSecret()
    const headers: Record<string, string> = signed(secret)
    const library = new Webhook(secret)
    const agree = async (given: Record<string, string>, text: string) => {
      let theirs = true
      try {
        library.verify(text, given)
      } catch {
        theirs = false
      }
      const ours = await verifyWebhook({ headers: given, body: text, secret }).then(
        () => true,
        () => false,
      )
      expect(ours).toBe(theirs)
    }
    await agree(headers, body)
    await agree(headers, body.replace('1', '2'))
    for (const name of Object.keys(headers)) {
      for (let at = 0; at < (headers[name] ?? '').length; at++) {
        const value = headers[name] ?? ''
        const changed = value.slice(0, at) + (value[at] === '0' ? '1' : '0') + value.slice(at + 1)
        await agree({ ...headers, [name]: changed }, body)
      }
      const { [name]: _, ...without } = headers
      await agree(without, body)
    }
  })

  it('rejects a signature whose last character differs in bits that decoding ignores', async () => {
    const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
    const secret = newWebhookSecret()
    const headers: Record<string, string> = signed(secret)
    const signature = headers['webhook-signature'] ?? ''
    const last = signature.at(-2) ?? ''
    const other = ALPHABET.charAt(ALPHABET.indexOf(last) + 1)
    const changed = { ...headers, 'webhook-signature': `${signature.slice(0, -2)}${other}=` }
    await expect(verifyWebhook({ headers, body, secret })).resolves.toBeDefined()
    await expect(verifyWebhook({ headers: changed, body, secret })).rejects.toThrow('does not match')
  })

  it('rejects a parsed body and an empty secret with a TypeError', async () => {
    const secret = newWebhookSecret()
    const headers = signed(secret)
    const parsed = verifyWebhook({ headers, body: JSON.parse(body), secret })
    await expect(parsed).rejects.toThrow(TypeError)
    await expect(parsed).rejects.toThrow('body')
    for (const wrong of ['', 'whsec_', 'whsec_?']) {
      const call = verifyWebhook({ headers: signed('x'), body, secret: wrong })
      await expect(call).rejects.toThrow(TypeError)
      await expect(call).rejects.toThrow('secret')
    }
  })

  it('returns an event whose name decides the type of its data', async () => {
    const secret = newWebhookSecret()
    const event = await verifyWebhook({ headers: signed(secret), body, secret })
    if (event.event === 'appointment.created') expect(event.data.start_time).toBeDefined()
    else expect(event.event).toBe('patient.created')
  })

  it.each(['', '{', '[]', 'null', '{}'])(
    'rejects a signed body that is not an event: %j',
    async (content) => {
      const secret = newWebhookSecret()
      const headers = signed(secret, Date.now(), content)
      await expect(verifyWebhook({ headers, body: content, secret })).rejects.toThrow(
        WebhookVerificationError,
      )
    },
  )

  it('names the clock and the option now when a timestamp is more than five minutes off', async () => {
    const secret = newWebhookSecret()
    for (const off of [-301_000, 302_000])
      await expect(
        verifyWebhook({ headers: signed(secret, Date.now() + off), body, secret }),
      ).rejects.toThrow(/five minutes off the clock of this machine: .* option `now`/)
  })
})

describe('with a cache', () => {
  const record = (name: string, etag: string) => json(200, { data: { name } }, { etag })
  const unchanged = (etag: string) => new Response(null, { status: 304, headers: { etag } })
  const tagsOf = (sent: readonly Sent[]) => sent.map(({ headers }) => headers['if-none-match'])

  it('a record that has not changed is not sent again, and a changed one is', async () => {
    const responses = [record('Ada', '"1"'), unchanged('"1"'), record('Eva', '"2"'), unchanged('"2"')]
    const { client, sent } = clientOf(responses, { cache: new Map() })
    const names: unknown[] = []
    for (let n = 0; n < 4; n++) {
      const { data } = (await client.patients.get('p1')) as unknown as { data: { name: string } }
      names.push(data.name)
      // A caller's changes of a response do not change the cached one.
      data.name = 'changed'
    }
    expect(names).toEqual(['Ada', 'Ada', 'Eva', 'Eva'])
    expect(tagsOf(sent)).toEqual([undefined, '"1"', '"1"', '"2"'])
  })

  it('only GET requests of the same URL have the etag, and errors and lists are not kept', async () => {
    const cache = new Map()
    const responses = [
      record('Ada', '"1"'),
      rejection(404, 'patient_not_found'),
      page([1], 1, 1),
      record('Eva', '"1"'),
    ]
    const { client, sent } = clientOf(responses, { cache })
    await client.patients.get('p1')
    await expect(client.patients.get('p2')).rejects.toThrow(ApiError)
    await client.patients.list()
    await client.patients.create({ first_name: 'Eva', last_name: 'Kaya' })
    expect(tagsOf(sent)).toEqual([undefined, undefined, undefined, undefined])
    expect([...cache.keys()]).toEqual(['https://api.example.com/prod/api/developer/v1/patients/p1'])
  })

  it('nothing is kept without one', async () => {
    const { client, sent } = clientOf([record('Ada', '"1"')])
    for (let n = 0; n < 2; n++) await client.patients.get('p1')
    expect(tagsOf(sent)).toEqual([undefined, undefined])
  })
})
