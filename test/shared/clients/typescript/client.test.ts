/** The client, with a scripted fetch. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { buildSync } from 'esbuild'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  ApiError,
  type ClientOptions,
  createClient,
  verifyWebhook,
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
    expect(reason).toMatchObject({
      status: 404,
      code: 'CODE',
      key: 'patient_not_found',
      details: [{ field: 'x' }],
      requestId: 'r-1',
      retryAfter: null,
    })
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

  it.each([
    ['429', rejection(429, 'rate_limited', { 'retry-after': '2' })],
    ['500', rejection(500, 'internal')],
    ['502', rejection(502, 'provider_unavailable')],
    ['503', rejection(503, 'unavailable')],
    ['504', rejection(504, 'timeout')],
    ['409 in progress', rejection(409, 'idempotency_in_progress', { 'retry-after': '1' })],
    ['a failed connection', new TypeError('fetch failed')],
    ['a timeout', new DOMException('late', 'TimeoutError')],
  ])('after %s, with the same idempotency key', async (_what, failure) => {
    const { client, sent } = clientOf([failure, failure, json(202, { data: { status: 'sent' } })])
    expect(await hurried(posted(client))).toMatchObject({
      status: 'fulfilled',
      value: { data: { status: 'sent' } },
    })
    expect(sent.length).toBe(3)
    expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })

  it('up to three times, or as often as `retries` says', async () => {
    for (const [retries, count] of [
      [undefined, 4],
      [0, 1],
      [7, 8],
    ] as const) {
      const { client, sent } = clientOf(
        [rejection(503, 'unavailable')],
        retries === undefined ? {} : { retries },
      )
      expect((await hurried(posted(client))).status).toBe('rejected')
      expect(sent.length).toBe(count)
    }
  })

  it.each([400, 401, 403, 404, 409, 413, 415, 422])('not after %i', async (status) => {
    const { client, sent } = clientOf([rejection(status, 'some_reason')])
    expect((await hurried(posted(client))).status).toBe('rejected')
    expect(sent.length).toBe(1)
  })

  it('not if retry-after exceeds a minute', async () => {
    const { client, sent } = clientOf([rejection(429, 'daily_message_limit', { 'retry-after': '7200' })])
    const { reason } = (await hurried(posted(client))) as PromiseRejectedResult
    expect([reason.retryAfter, sent.length]).toEqual([7200, 1])
  })

  it('after the seconds in retry-after, plus jitter', async () => {
    const { client, sent } = clientOf([
      rejection(429, 'rate_limited', { 'retry-after': '5' }),
      json(202, { data: {} }),
    ])
    const posting = posted(client)
    await vi.advanceTimersByTimeAsync(4900)
    expect(sent.length).toBe(1)
    await vi.advanceTimersByTimeAsync(400)
    expect(sent.length).toBe(2)
    await posting
  })

  it('not after it was aborted', async () => {
    const calledOff = new AbortController()
    const { client, sent } = clientOf([new Error('aborted')])
    calledOff.abort()
    expect((await hurried(client.patients.get('x', { signal: calledOff.signal }))).status).toBe('rejected')
    expect(sent.length).toBe(1)
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

  it('ends at once for an empty list', async () => {
    const { client } = clientOf([page([], 1, 0)])
    for await (const _ of client.invoices.all()) throw new Error('the list is empty')
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

describe('verifyWebhook', () => {
  const body = '{"id":"evt_1","event":"patient.created"}'
  const signed = (secret: string, at = Date.now()) =>
    signatureHeaders({ id: 'evt_1', timestampSeconds: Math.floor(at / 1000), body, secrets: [secret] })

  it.each(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'a raw secret'])(
    'accepts a delivery signed with %s',
    async (secret) => {
      const headers = signed(secret)
      expect(await verifyWebhook({ headers, body, secret })).toEqual(JSON.parse(body))
      expect(await verifyWebhook({ headers: new Headers(headers), body, secret })).toEqual(JSON.parse(body))
      const old = signed('another one that is older')
      const both = {
        ...headers,
        'webhook-signature': `${old['webhook-signature']} ${headers['webhook-signature']}`,
      }
      expect(await verifyWebhook({ headers: both, body, secret })).toEqual(JSON.parse(body))
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

  it('rejects a timestamp more than five minutes off', async () => {
    const secret = newWebhookSecret()
    for (const off of [-301_000, 302_000])
      await expect(
        verifyWebhook({ headers: signed(secret, Date.now() + off), body, secret }),
      ).rejects.toThrow(/five minutes/)
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

it('is smaller than 10 KB and has no dependencies', () => {
  const { outputFiles } = buildSync({
    entryPoints: ['shared/clients/typescript/client.ts'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
  })
  const text = outputFiles[0]?.text ?? ''
  expect(text.length).toBeLessThan(10_000)
  expect(text).not.toMatch(/\bimport\b|require\(/)
  expect(
    JSON.parse(readFileSync('shared/clients/typescript/package.json', 'utf8')).dependencies,
  ).toBeUndefined()
})

it('has types generated from the current document: if not, run `npm run types -w shared/clients/typescript`', () => {
  const generated = execFileSync(
    process.execPath,
    ['node_modules/openapi-typescript/bin/cli.js', '../../../docs/openapi.json'],
    { cwd: 'shared/clients/typescript', encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  )
  expect(readFileSync('shared/clients/typescript/schema.ts', 'utf8').trim()).toBe(generated.trim())
}, 30_000)
