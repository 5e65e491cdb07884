/** The webhook endpoints on the real engine, with SQS mocked: what is stored, queued and returned. */
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs'
import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { deliverEvent } from '../../shared/delivery/deliver-event.ts'
import { readQueuedDelivery } from '../../shared/delivery/delivery-queues.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { EVENTS } from '../../shared/domain/event.ts'
import type { Scope } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { signingSecrets, type Webhook } from '../../shared/domain/webhook.ts'
import { deliveryStore } from '../../shared/store/events/deliveries.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import { webhookHealthKey } from '../../shared/store/keys/webhooks.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../support/credentials.ts'
import { deliverySimulation, httpResponse } from '../support/deliveries.ts'
import type { RequestInput } from '../support/event.ts'
import { call } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { aPatient, freshTable, newClinic, type TestTable } from '../support/table.ts'

const sqs = mockClient(SQSClient)
const METHODS: Record<string, string> = { 'update-webhook': 'PATCH', 'delete-webhook': 'DELETE' }
const READING = ['list-webhooks', 'list-deliveries', 'list-events']

let db: TestTable
let clinic: Clinic
let headers: Record<string, string>

beforeAll(async () => {
  db = await freshTable()
  stubFunctionEnvironment(db.name)
})

beforeEach(async () => {
  sqs.reset()
  sqs.on(SendMessageBatchCommand).resolves({})
  clinic = await newClinic(db.table)
  headers = (await issueCredential(db.table, clinic)).headers
})

afterEach(() => {
  vi.useRealTimers()
})

type Request = Omit<RequestInput, 'body' | 'method' | 'headers'> & {
  body?: unknown
  headers?: Record<string, string | undefined>
}

/** Sends a request to a route. A body that is not text is sent as JSON. */
async function ask(id: string, { body, headers: more = {}, ...sent }: Request = {}) {
  const all = {
    ...headers,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...more,
  }
  return call(await handlerOf({ id }), {
    method: METHODS[id] ?? (READING.includes(id) ? 'GET' : 'POST'),
    headers: Object.fromEntries(Object.entries(all).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]]))),
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...sent,
  })
}

const wanted = (facts: object = {}) => ({
  url: 'https://example.com/hooks',
  events: ['patient.created', 'appointment.created'],
  ...facts,
})

async function created(facts: object = {}): Promise<{ id: string; secret: string; [field: string]: any }> {
  const { status, body } = await ask('create-webhook', { body: wanted(facts) })
  expect(status).toBe(201)
  return body.data
}

const change = (id: string, body: unknown) => ask('update-webhook', { path: { id }, body })
const remove = (id: string) => ask('delete-webhook', { path: { id } })
const list = (query: Record<string, string> = {}) => ask('list-webhooks', { query })
const rotate = (id: string, more: Request = {}) => ask('rotate-webhook-secret', { path: { id }, ...more })
const ping = (id: string, more: Request = {}) => ask('ping-webhook', { path: { id }, ...more })
const deliveries = (id: string, query: Record<string, string> = {}) =>
  ask('list-deliveries', { path: { id }, query })
const redeliver = (id: string, delivery_id: string, more: Request = {}) =>
  ask('redeliver', { path: { id, delivery_id }, ...more })

const kept = async (id: string): Promise<Webhook> => {
  const webhook = await webhookStore(db).find(clinic.id, id)
  if (!webhook) throw new Error('no such webhook')
  return webhook
}

const later = (ms: number) => vi.useFakeTimers({ now: Date.now() + ms, toFake: ['Date'] })
const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })

/** A value as text that does not depend on the order of attributes. */
const written = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort())
      : part,
  )

/** The whole table without credentials, since each request records the use of its credential. */
async function items(): Promise<string[]> {
  const all: Record<string, unknown>[] = []
  let start: Record<string, unknown> | undefined
  do {
    const more = start && { ExclusiveStartKey: start }
    const page = await db.client.send(new ScanCommand({ TableName: db.name, ConsistentRead: true, ...more }))
    all.push(...(page.Items ?? []))
    start = page.LastEvaluatedKey
  } while (start)
  return all.filter(({ pk }) => !String(pk).startsWith('credential#')).map(written)
}

/** Runs something that must not change the table or the queues. */
async function unchanged<T>(act: () => Promise<T>): Promise<T> {
  const before = await items()
  const pushes = sqs.calls().length
  const result = await act()
  const after = await items()
  const [known, left] = [new Set(before), new Set(after)]
  const changed = {
    gone: before.filter((item) => !left.has(item)),
    made: after.filter((item) => !known.has(item)),
  }
  expect(changed).toEqual({ gone: [], made: [] })
  expect(sqs.calls().length).toBe(pushes)
  return result
}

/** The deliveries that were pushed, with their queues. */
const pushed = () =>
  sqs.commandCalls(SendMessageBatchCommand).flatMap(({ args }) => {
    const { QueueUrl, Entries = [] } = args[0].input
    return Entries.map(({ MessageBody = '', DelaySeconds }) => ({
      queue: QueueUrl,
      delay: DelaySeconds,
      ...readQueuedDelivery(MessageBody),
    }))
  })

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/
const UUID = /^[0-9a-f-]{36}$/
const error = (status: number, code: string, key: string) => ({
  status,
  body: { error: code, message: `errors.developer_api.${key}` },
})
const NO_WEBHOOK = error(404, 'NOT_FOUND', 'webhook_not_found')
const NO_DELIVERY = error(404, 'NOT_FOUND', 'delivery_not_found')
const TOO_MANY = error(422, 'VALIDATION', 'too_many_webhooks')

describe('POST /webhooks', () => {
  it('returns 201 with the endpoint, its secret and its location', async () => {
    const { status, body, headers: sent } = await ask('create-webhook', { body: wanted() })
    expect(status).toBe(201)
    expect(body).toEqual({
      data: {
        id: expect.stringMatching(UUID),
        url: 'https://example.com/hooks',
        events: ['patient.created', 'appointment.created'],
        is_active: true,
        description: null,
        created_at: expect.stringMatching(TIME),
        updated_at: body.data.created_at,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      },
    })
    expect(sent).toMatchObject({
      location: `/api/developer/v1/webhooks/${body.data.id}`,
      'cache-control': 'no-store',
    })
    const { secret, ...shown } = body.data
    expect((await list()).body.data).toEqual([shown])
    expect((await kept(body.data.id)).secret).toBe(secret)
  })

  it('generates a different secret for each endpoint', async () => {
    const secrets = [await created(), await created(), await created()].map(({ secret }) => secret)
    expect(new Set(secrets).size).toBe(3)
  })

  it.each([
    ['in the whsec_ form', `whsec_${Buffer.alloc(24, 7).toString('base64')}`],
    ['of the most bytes', `whsec_${Buffer.alloc(64, 7).toString('base64')}`],
    ['in another form', 'sixteen-letters!'],
    ['of the most letters', '~'.repeat(256)],
  ])('accepts a secret %s', async (_, secret) => {
    const { id, ...shown } = await created({ secret })
    expect(shown.secret).toBe(secret)
    expect((await kept(id)).secret).toBe(secret)
    expect((await list()).text).not.toContain(secret)
  })

  it('accepts all events, and keeps their order', async () => {
    const events = EVENTS.toReversed()
    expect((await created({ events })).events).toEqual(events)
  })

  it.each([
    ['HTTPS://Example.COM:443/Hooks?a=%20', 'https://example.com/Hooks?a=%20'],
    ['https://example.com', 'https://example.com/'],
    ['https://example.com:8443/a/../b', 'https://example.com:8443/b'],
  ])('stores %s in its normalized form', async (url, href) => {
    expect((await created({ url })).url).toBe(href)
  })

  it.each([
    ['  Ours, for billing  ', 'Ours, for billing'],
    [null, null],
    ['😀'.repeat(500), '😀'.repeat(500)],
  ])('accepts the description %j', async (description, shown) => {
    expect((await created({ description })).description).toBe(shown)
  })

  it('returns the same secret and creates nothing when it is repeated under its key', async () => {
    const more = { ...withKey('k'), body: wanted() }
    const first = await ask('create-webhook', more)
    const again = await unchanged(() => ask('create-webhook', more))
    expect([again.status, again.text]).toEqual([201, first.text])
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      location: first.headers.location as string,
    })
    expect(first.headers).not.toHaveProperty('idempotent-replayed')
    const other = await unchanged(() =>
      ask('create-webhook', { ...more, body: wanted({ description: 'x' }) }),
    )
    expect(other).toMatchObject(error(422, 'IDEMPOTENCY_KEY_REUSED', 'idempotency_key_reused'))
    expect((await list()).body.meta.total).toBe(1)
  })

  it('creates one endpoint when requests under one key race, and another for another credential', async () => {
    const more = { ...withKey('k'), body: wanted() }
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask('create-webhook', more)))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect((await list()).body.meta.total).toBe(1)
    headers = (await issueCredential(db.table, clinic)).headers
    expect((await ask('create-webhook', more)).text).not.toBe(answers[0]?.text)
    expect((await list()).body.meta.total).toBe(2)
  })
})

describe('the limit of twenty endpoints', () => {
  const fill = async (count = 20) => {
    const ids: string[] = []
    for (let n = 0; n < count; n++) ids.push((await created()).id)
    return ids
  }

  it('returns 422 for the 21st until one is deleted', async () => {
    const ids = await fill()
    expect(await unchanged(() => ask('create-webhook', { body: wanted() }))).toMatchObject(TOO_MANY)
    expect((await remove(ids[3] as string)).status).toBe(204)
    // Deleting the same endpoint again does not lower the count.
    expect((await remove(ids[3] as string)).status).toBe(404)
    await created()
    expect(await ask('create-webhook', { body: wanted() })).toMatchObject(TOO_MANY)
    expect((await list({ limit: '100' })).body.meta.total).toBe(20)
  })

  it('holds when 25 requests race', async () => {
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => ask('create-webhook', { body: wanted() })),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(20).fill(201), ...Array(5).fill(422)])
    const { body } = await list({ limit: '100' })
    const made = answers.flatMap(({ body: { data } }) => (data ? [data.id] : []))
    expect(body.data.map(({ id }: Webhook) => id).sort()).toEqual(made.sort())
  })

  it('counts each deletion once when deletions race', async () => {
    const ids = await fill()
    const answers = await Promise.all(
      ids.slice(0, 4).flatMap((id) => Array.from({ length: 4 }, () => remove(id))),
    )
    expect(answers.filter(({ status }) => status === 204).length).toBe(4)
    await fill(4)
    expect(await ask('create-webhook', { body: wanted() })).toMatchObject(TOO_MANY)
  })

  it('does not apply to the repetition of an earlier request', async () => {
    const more = { ...withKey('k'), body: wanted() }
    const first = await ask('create-webhook', more)
    await fill(19)
    expect((await ask('create-webhook', more)).text).toBe(first.text)
  })

  it('applies to each clinic separately', async () => {
    await fill()
    headers = (await issueCredential(db.table, await newClinic(db.table))).headers
    await created()
  })
})

describe('GET /webhooks', () => {
  it('returns each endpoint once, oldest first, for every page size', async () => {
    const ids: string[] = []
    for (let n = 0; n < 7; n++) {
      // Some have the same time of creation.
      if (n % 3 === 0) later(60_000)
      ids.push((await created({ description: `no. ${n}` })).id)
    }
    const all = (await list()).body.data
    const times = all.map(({ created_at }: { created_at: string }) => created_at)
    expect(times).toEqual([...times].sort())
    expect(all.map(({ id }: Webhook) => id).sort()).toEqual([...ids].sort())
    for (const limit of [1, 2, 3, 6, 7, 8, 100]) {
      const pages = Math.ceil(7 / limit)
      const walked = []
      for (let page = 1; page <= pages; page++) {
        const { body } = await list({ page: String(page), limit: String(limit) })
        expect(body.meta).toEqual({ page, limit, total: 7, total_pages: pages })
        walked.push(...body.data)
      }
      expect(walked).toEqual(all)
      expect((await list({ page: String(pages + 1), limit: String(limit) })).body.data).toEqual([])
    }
  })

  it('returns an empty page when there are none', async () => {
    expect((await list()).body).toEqual({ data: [], meta: { page: 1, limit: 20, total: 0, total_pages: 0 } })
  })

  it.each<[Record<string, string>]>([
    [{ page: '0' }],
    [{ limit: '101' }],
    [{ limit: 'x' }],
    [{ sort: 'url' }],
    [{ after: '1' }],
  ])('returns 400 for %j', async (query) => {
    expect(await list(query)).toMatchObject({
      status: 400,
      body: { error: 'INVALID_PARAMS', details: [{ field: Object.keys(query)[0] }] },
    })
  })
})

describe('PATCH /webhooks/{id}', () => {
  it('writes nothing when no value changes', async () => {
    const { id, secret: _, ...before } = await created({ description: 'Ours' })
    later(60_000)
    for (const body of [{}, { url: before.url, events: before.events, description: 'Ours' }, undefined]) {
      const answer = await unchanged(() => change(id, body))
      expect(answer).toMatchObject({ status: 200, body: { data: { id, ...before } } })
    }
  })

  it.each([
    [{ url: 'https://example.org/in' }],
    [{ events: ['invoice.paid'] }],
    [{ events: ['appointment.created', 'patient.created'] }],
    [{ description: 'Theirs' }],
    [{ description: null }],
    [{ is_active: false }],
    [{ url: 'https://example.org/in', events: [...EVENTS], description: null, is_active: false }],
  ])('changes only the fields of %j', async (changes) => {
    const { id, secret, ...before } = await created({ description: 'Ours' })
    later(60_000)
    const { status, body } = await change(id, changes)
    expect(status).toBe(200)
    expect(body.data).toEqual({ id, ...before, ...changes, updated_at: expect.stringMatching(TIME) })
    expect(body.data.updated_at > before.updated_at).toBe(true)
    expect((await list()).body.data).toEqual([body.data])
    expect(await kept(id)).toMatchObject({ secret, previousSecret: null })
  })

  it('applies all changes when requests for different fields race', async () => {
    const { id } = await created()
    const changes = [{ url: 'https://example.org/' }, { events: ['invoice.paid'] }, { description: 'x' }]
    await Promise.all(changes.map((body) => change(id, body)))
    expect((await list()).body.data).toMatchObject([Object.assign({}, ...changes)])
  })

  it('resets the endpoint’s health only when it sets is_active to true', async () => {
    const { id } = await created()
    const health = () => db.table.get(webhookHealthKey(clinic.id, id))
    await webhookStore(db).recordFailure(clinic.id, id, Date.now())
    for (const body of [{}, { description: 'x' }, { is_active: false }]) {
      await change(id, body)
      expect(await health()).toBeDefined()
    }
    expect((await change(id, { is_active: true })).body.data.is_active).toBe(true)
    expect(await health()).toBeUndefined()
  })
})

describe('DELETE /webhooks/{id}', () => {
  it('returns 204 without a body, after which every request returns 404', async () => {
    const [{ id }, other] = [await created(), await created()]
    const delivery = (await ping(id)).body.data.id
    const gone = await remove(id)
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect(gone.headers).not.toHaveProperty('content-type')
    await unchanged(async () => {
      for (const answer of [
        await remove(id),
        await change(id, { is_active: true }),
        await rotate(id),
        await ping(id),
        await deliveries(id),
        await redeliver(id, delivery),
      ])
        expect(answer).toMatchObject(NO_WEBHOOK)
    })
    expect((await list()).body.data.map(({ id }: Webhook) => id)).toEqual([other.id])
  })

  it('deletes the endpoint’s health', async () => {
    const { id } = await created()
    await webhookStore(db).recordFailure(clinic.id, id, Date.now())
    await remove(id)
    expect(await db.table.get(webhookHealthKey(clinic.id, id))).toBeUndefined()
  })
})

describe('POST /webhooks/{id}/rotate-secret', () => {
  const DAY = 24 * 60 * 60 * 1000

  it('returns a new secret, and the old one still signs for a day', async () => {
    const { id, secret: old, ...before } = await created()
    later(60_000)
    const now = Date.now()
    const { status, body } = await rotate(id)
    expect(status).toBe(200)
    expect(body.data).toEqual({
      id,
      ...before,
      secret: expect.stringMatching(/^whsec_/),
      updated_at: expect.stringMatching(TIME),
    })
    const { secret } = body.data
    expect(secret).not.toBe(old)
    const webhook = await kept(id)
    expect(webhook.previousSecret?.secret).toBe(old)
    const until = Date.parse(webhook.previousSecret?.until ?? '')
    expect(until - now).toBeGreaterThanOrEqual(DAY)
    expect(until - now).toBeLessThan(DAY + 5000)
    expect(signingSecrets(webhook, until - 1)).toEqual([secret, old])
    expect(signingSecrets(webhook, until)).toEqual([secret])
  })

  it('keeps only the latest of the earlier secrets', async () => {
    const { id, secret: first } = await created()
    const second = (await rotate(id)).body.data.secret
    const third = (await rotate(id)).body.data.secret
    const webhook = await kept(id)
    expect(signingSecrets(webhook, Date.now())).toEqual([third, second])
    expect(JSON.stringify(webhook)).not.toContain(first)
  })

  it('accepts the integrator’s own secret', async () => {
    const { id } = await created()
    const secret = 'my-own-secret-0123456789'
    expect((await rotate(id, { body: { secret } })).body.data.secret).toBe(secret)
    expect((await kept(id)).secret).toBe(secret)
  })

  it('returns the same secret and rotates nothing when it is repeated under its key', async () => {
    const { id } = await created()
    const first = await rotate(id, withKey('k'))
    const again = await unchanged(() => rotate(id, withKey('k')))
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      200,
      first.text,
      'true',
    ])
    expect((await rotate(id, withKey('l'))).text).not.toBe(first.text)
  })

  it('rotates once when requests under one key race', async () => {
    const { id, secret: old } = await created()
    const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(id, withKey('k'))))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await kept(id)).previousSecret?.secret).toBe(old)
  })
})

/** Delivers the last pushed delivery, as the consumer does, to a receiver that responds with `status`. */
async function attempted(status: number, at = Date.now()) {
  const world = deliverySimulation(db.table, () => httpResponse(status, null, 12))
  world.now = at
  const last = pushed().at(-1)
  if (!last) throw new Error('nothing was pushed')
  const { clinic, webhook, delivery } = last
  await deliverEvent(world.dependencies, { clinic, webhook, delivery }, 'quick')
  return world.received
}

describe('POST /webhooks/{id}/ping', () => {
  it('creates a delivery and queues it', async () => {
    const { id } = await created()
    const { status, body } = await ping(id)
    expect(status).toBe(202)
    expect(body.data).toEqual({
      id: expect.stringMatching(UUID),
      event_id: expect.stringMatching(/^evt_[0-9a-f-]{36}$/),
      event: 'webhook.ping',
      status: 'pending',
      attempts: [],
      next_attempt_at: expect.stringMatching(TIME),
      created_at: expect.stringMatching(TIME),
    })
    const queued = { clinic: clinic.id, webhook: id, delivery: body.data.id }
    expect(pushed()).toEqual([{ queue: process.env.DELIVERY_QUEUE_URL, delay: undefined, ...queued }])
    expect((await deliveries(id)).body.data).toEqual([body.data])
    const [received] = await attempted(200)
    expect(JSON.parse(received?.body ?? '')).toEqual({
      id: body.data.event_id,
      event: 'webhook.ping',
      clinic_id: clinic.id,
      created_at: expect.stringMatching(TIME),
      sequence: 1,
      data: { id },
    })
  })

  it('reaches a disabled endpoint without a subscription to pings', async () => {
    const { id } = await created()
    await change(id, { is_active: false })
    expect((await ping(id)).status).toBe(202)
    expect((await attempted(200)).length).toBe(1)
    expect((await deliveries(id)).body.data).toMatchObject([{ status: 'delivered' }])
  })

  it('adds no event to GET /events', async () => {
    await ping((await created()).id)
    expect((await ask('list-events')).body).toEqual({
      data: [],
      meta: { limit: 20, next_after: null, has_more: false },
    })
  })

  it('returns 202 and leaves the delivery to the sweep when it cannot be queued', async () => {
    const { id } = await created()
    sqs.on(SendMessageBatchCommand).rejects(new Error('down'))
    const answer = await ping(id)
    expect(answer.status).toBe(202)
    expect(answer.logged).toContain('delivery_not_queued')
    const due = await deliveryStore(db).due(Date.now() + 5 * 60_000, 1000)
    expect(due.map(({ id }) => id)).toContain(answer.body.data.id)
  })

  it('creates one delivery when requests under one key race or are repeated', async () => {
    const { id } = await created()
    const answers = await Promise.all(Array.from({ length: 8 }, () => ping(id, withKey('k'))))
    answers.push(await unchanged(() => ping(id, withKey('k'))))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect((await deliveries(id)).body.data.length).toBe(1)
    expect(pushed().length).toBe(1)
    expect((await ping(id, withKey('l'))).text).not.toBe(answers[0]?.text)
  })
})

describe('GET /webhooks/{id}/deliveries', () => {
  it('returns each delivery once, latest first, for every page size', async () => {
    const { id } = await created()
    const other = await created()
    const ids: string[] = []
    for (let n = 0; n < 7; n++) {
      if (n % 3 === 0) later(60_000)
      ids.unshift((await ping(id)).body.data.id)
      await ping(other.id)
    }
    for (const limit of [1, 2, 3, 6, 7, 8, 100]) {
      const walked: string[] = []
      let after: string | undefined
      for (let more = true; more; ) {
        const { body } = await deliveries(id, { limit: String(limit), ...(after !== undefined && { after }) })
        walked.push(...body.data.map((delivery: { id: string }) => delivery.id))
        expect(body.meta).toEqual({ limit, next_after: walked.at(-1), has_more: walked.length < 7 })
        after = body.meta.next_after
        more = body.meta.has_more
      }
      expect(walked).toEqual(ids)
      const { body } = await deliveries(id, { limit: String(limit), after: after as string })
      expect(body).toEqual({ data: [], meta: { limit, next_after: after, has_more: false } })
    }
  })

  it('returns an empty page without a cursor when there are none', async () => {
    const { id } = await created()
    expect((await deliveries(id)).body).toEqual({
      data: [],
      meta: { limit: 20, next_after: null, has_more: false },
    })
  })

  it('returns the attempts and the time of the next one in the clinic’s zone', async () => {
    const { id } = await created()
    later(60_000)
    const made = (await ping(id)).body.data
    const start = Date.now()
    const shown = async () => (await deliveries(id)).body.data
    await attempted(500, start)
    const [first] = await shown()
    expect(first).toEqual({
      ...made,
      attempts: [
        { attempted_at: expect.stringMatching(TIME), response_status: 500, error: null, latency_ms: 12 },
      ],
      next_attempt_at: expect.stringMatching(TIME),
    })
    const wait = Date.parse(first.next_attempt_at) - Date.parse(first.attempts[0].attempted_at)
    // The delay is 5 seconds; times have whole seconds.
    expect(wait).toBeGreaterThanOrEqual(5000)
    expect(wait).toBeLessThanOrEqual(6000)
    await webhookStore(db).recordRecovery(clinic.id, id)
    await attempted(204, start + 6000)
    expect(await shown()).toEqual([
      {
        ...first,
        status: 'delivered',
        attempts: [...first.attempts, expect.objectContaining({ response_status: 204, error: null })],
        next_attempt_at: null,
      },
    ])
  })

  it('leaves out deliveries older than 30 days before they are deleted', async () => {
    const { id } = await created()
    await ping(id)
    later(20 * 24 * 3_600_000)
    const recent = (await ping(id)).body.data.id
    later(11 * 24 * 3_600_000)
    for (const query of [{}, { limit: '1' }] as Record<string, string>[]) {
      const { body } = await deliveries(id, query)
      expect(body.data.map((delivery: { id: string }) => delivery.id)).toEqual([recent])
      expect(body.meta).toMatchObject({ next_after: recent, has_more: false })
    }
    expect((await deliveries(id, { after: recent })).body.data).toEqual([])
  })

  it.each(['', 'x', '1', 'x'.repeat(36), 'x'.repeat(65), ' ', '../../etc', '\u0000', 'ä'])(
    'have no cursor %j',
    async (after) => {
      const { id } = await created()
      expect(await deliveries(id, { after })).toMatchObject({
        status: 400,
        body: { error: 'INVALID_PARAMS', details: [{ field: 'after' }] },
      })
    },
  )

  it('returns 404 for an unknown endpoint, whatever the cursor', async () => {
    for (const after of [undefined, newUuid()])
      expect(await deliveries(newUuid(), after ? { after } : {})).toMatchObject(NO_WEBHOOK)
  })
})

describe('POST …/deliveries/{delivery_id}/redeliver', () => {
  const stored = async (webhook: string, id: string) => deliveryStore(db).find(clinic.id, webhook, id)

  it.each([
    ['delivered', 200, 'delivered'],
    ['failed', 410, 'failed'],
    ['pending, after an attempt', 500, 'pending'],
    ['pending, before any', null, 'pending'],
  ])('starts a new schedule and keeps the attempts of a delivery that was %s', async (_, answer, status) => {
    const { id } = await created()
    const made = (await ping(id)).body.data
    if (answer !== null) await attempted(answer)
    expect(await stored(id, made.id)).toMatchObject({ status })
    const before = pushed().length
    const { status: code, body } = await redeliver(id, made.id)
    expect(code).toBe(202)
    expect(body.data).toMatchObject({ id: made.id, event_id: made.event_id, status: 'pending' })
    expect(body.data.attempts.length).toBe(answer === null ? 0 : 1)
    expect(body.data.next_attempt_at).toMatch(TIME)
    const queued = { clinic: clinic.id, webhook: id, delivery: made.id }
    expect(pushed().slice(before)).toEqual([
      { queue: process.env.DELIVERY_QUEUE_URL, delay: undefined, ...queued },
    ])
    expect(await stored(id, made.id)).toMatchObject({ tries: 0, isAskedFor: true, claim: null })
    // The 410 disabled the endpoint and the 500 marked it as slow; the delivery is attempted under the same id.
    await webhookStore(db).recordRecovery(clinic.id, id)
    expect(await attempted(200)).toMatchObject([{ headers: { 'webhook-id': made.event_id } }])
    expect(await stored(id, made.id)).toMatchObject({ status: 'delivered', dueAt: null })
  })

  it('leaves one due item when it is repeated', async () => {
    const { id } = await created()
    const made = (await ping(id)).body.data.id
    later(10_000)
    await redeliver(id, made)
    later(10_000)
    await redeliver(id, made)
    const due = await deliveryStore(db).due(Date.now() + 10 * 60_000, 1000)
    expect(due.filter((one) => one.id === made).length).toBe(1)
  })

  it('attempts an event in the order of its record', async () => {
    const { id } = await created({ events: ['patient.created'] })
    await patientWriter(db).createMany(clinic.id, [aPatient()])
    await eventFanOut({ table: db.table, now: Date.now, newId: newUuid }).fanOut(clinic.id, async () => {})
    const [delivery] = (await deliveries(id)).body.data
    expect(delivery).toMatchObject({ event: 'patient.created', status: 'pending', attempts: [] })
    await redeliver(id, delivery.id)
    expect((await attempted(200)).length).toBe(1)
    expect((await deliveries(id)).body.data).toMatchObject([{ status: 'delivered' }])
  })

  it('queues once when it is repeated under its key', async () => {
    const { id } = await created()
    const made = (await ping(id)).body.data.id
    const before = pushed().length
    const first = await redeliver(id, made, withKey('k'))
    const again = await unchanged(() => redeliver(id, made, withKey('k')))
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      202,
      first.text,
      'true',
    ])
    expect(pushed().length).toBe(before + 1)
  })

  it('returns 404 for a delivery older than 30 days before it is deleted', async () => {
    const { id } = await created()
    const made = (await ping(id)).body.data.id
    later(31 * 24 * 3_600_000)
    expect((await deliveries(id)).body.data).toEqual([])
    expect(await redeliver(id, made)).toMatchObject(NO_DELIVERY)
  })

  it('returns 202 when the delivery cannot be queued', async () => {
    const { id } = await created()
    const made = (await ping(id)).body.data.id
    sqs.on(SendMessageBatchCommand).rejects(new Error('down'))
    const answer = await redeliver(id, made)
    expect(answer.status).toBe(202)
    expect(answer.logged).toContain('delivery_not_queued')
  })

  it('returns 404 for a delivery of another endpoint or another clinic', async () => {
    const [mine, other] = [await created(), await created()]
    const [own, others] = [(await ping(mine.id)).body.data.id, (await ping(other.id)).body.data.id]
    const there = headers
    headers = (await issueCredential(db.table, await newClinic(db.table))).headers
    const foreign = await created()
    const theirs = (await ping(foreign.id)).body.data.id
    headers = there
    const texts = await unchanged(async () => {
      const answers = [others, theirs, newUuid(), 'none'].map((id) => redeliver(mine.id, id))
      return (await Promise.all(answers)).map(({ status, text }) => `${status} ${text}`)
    })
    expect([...new Set(texts)]).toEqual([`404 ${JSON.stringify(NO_DELIVERY.body)}`])
    expect(await unchanged(() => redeliver(foreign.id, own))).toMatchObject(NO_WEBHOOK)
    expect(await unchanged(() => redeliver(foreign.id, theirs))).toMatchObject(NO_WEBHOOK)
  })
})

describe('an idempotency key that was used for one endpoint', () => {
  // The second request is processed, or refused since the key was used. It never gets the first response.
  it.each(['ping', 'rotate', 'redeliver'] as const)(
    'does not return its response for another: %s',
    async (what) => {
      const [one, other] = [await created(), await created()]
      const [first, second] = [(await ping(one.id)).body.data.id, (await ping(one.id)).body.data.id]
      const [before, after] = {
        ping: [() => ping(one.id, withKey('k')), () => ping(other.id, withKey('k'))],
        rotate: [() => rotate(one.id, withKey('k')), () => rotate(other.id, withKey('k'))],
        redeliver: [
          () => redeliver(one.id, first, withKey('k')),
          () => redeliver(one.id, second, withKey('k')),
        ],
      }[what] as [() => ReturnType<typeof ask>, () => ReturnType<typeof ask>]
      const answer = await before()
      expect(answer.status).toBeLessThan(300)
      expect((await after()).text).not.toBe(answer.text)
    },
  )
})

describe('a request with only optional fields', () => {
  let id: string
  let delivery: string
  beforeEach(async () => {
    id = (await created()).id
    delivery = (await ping(id)).body.data.id
  })

  const routes: [string, (more: Request) => ReturnType<typeof ask>, number][] = [
    ['ping', (more) => ping(id, more), 202],
    ['redeliver', (more) => redeliver(id, delivery, more), 202],
    ['rotate', (more) => rotate(id, more), 200],
  ]

  it.each(routes)('is accepted without a body or with an empty object: %s', async (_, act, status) => {
    expect((await act({})).status).toBe(status)
    expect((await act({ body: {} })).status).toBe(status)
    expect(
      (await act({ body: ' {}\n', headers: { 'content-type': 'application/json; charset=utf-8' } })).status,
    ).toBe(status)
  })

  it.each(routes)('is refused with any other body: %s', async (_, act) => {
    const text = { 'content-type': 'text/plain' }
    const refused: [Request, number, string][] = [
      [{ headers: text }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      [{ body: {}, headers: text }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      [{ body: {}, headers: { 'content-type': undefined } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      [{ body: { url: 'https://example.com/' } }, 422, 'VALIDATION'],
      [{ body: { secrets: 1 } }, 422, 'VALIDATION'],
      [{ body: '[]' }, 422, 'VALIDATION'],
      [{ body: 'null' }, 422, 'VALIDATION'],
      [{ body: '{' }, 400, 'INVALID_PARAMS'],
      [{ headers: { 'idempotency-key': 'with space' } }, 422, 'VALIDATION'],
    ]
    await unchanged(async () => {
      for (const [request, status, code] of refused)
        expect(await act(request)).toMatchObject({ status, body: { error: code } })
    })
  })
})

const HOSTILE = [
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0177.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://[fd00:ec2::254]/',
  'https://10.0.0.1/',
  'https://8.8.8.8/',
  'https://localhost/',
  'https://localhost.localdomain/',
  'https://foo.localhost./',
  'https://metadata.google.internal/',
  'https://printer.local/',
  'https://kubernetes.default.svc.cluster.local/',
  'https://receiver/',
  'https://１２７.0.0.1/',
  'https://local\u00adhost/',
  'https://example.com./',
  'https://exa_mple.com/',
  'https://xn--a.com/',
  'https://user:secret@example.com/',
  'https://example.com@127.0.0.1/',
  'https://example.com\\@127.0.0.1/',
  'https://example.com/#top',
  'https://example.com:22/',
  'https://example.com:80/',
  'http://example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https:example.com',
  '//example.com/',
  ' https://example.com/',
  'https://example.com/\r\nHost: 127.0.0.1',
  'https://example.com/ü',
  `https://example.com/${'a'.repeat(2029)}`,
  '',
]

describe('the checks of a webhook request', () => {
  const refused = (answer: Awaited<ReturnType<typeof ask>>, ...fields: string[]) => {
    expect(answer).toMatchObject({
      status: 422,
      body: { error: 'VALIDATION', message: 'errors.developer_api.validation' },
    })
    const named = answer.body.details.map(({ field }: { field: string }) => field.replace(/\..*/, ''))
    expect([...new Set(named)].sort()).toEqual(fields.sort())
    for (const { issue } of answer.body.details) expect(issue).toMatch(/^[a-z][^\p{Cc}]{5,}$/u)
  }

  let id: string
  beforeEach(async () => {
    id = (await created({ description: 'Ours' })).id
  })

  it.each(HOSTILE.map((url) => [url]))('returns 422 for the URL %j', async (url) => {
    await unchanged(async () => {
      refused(await ask('create-webhook', { body: wanted({ url }) }), 'url')
      refused(await change(id, { url, description: 'Changed' }), 'url')
    })
  })

  /** Invalid for the creation and for the change of an endpoint alike. */
  const both: [string, object, string][] = [
    ['an address of null', { url: null }, 'url'],
    ['an address that is a number', { url: 1 }, 'url'],
    ['addresses', { url: ['https://example.com/'] }, 'url'],
    ['an unknown event', { events: ['patient.deleted'] }, 'events'],
    ['an unknown event beside a known one', { events: ['patient.created', 'x'] }, 'events'],
    ['an event in capitals', { events: ['Patient.Created'] }, 'events'],
    ['an event with a space', { events: ['patient.created '] }, 'events'],
    ['all events', { events: ['*'] }, 'events'],
    ['a family of events', { events: ['patient.*'] }, 'events'],
    ['the ping, which needs no subscription', { events: ['webhook.ping'] }, 'events'],
    ['no events', { events: [] }, 'events'],
    ['events of null', { events: null }, 'events'],
    ['an event that is not in a list', { events: 'patient.created' }, 'events'],
    ['events by number', { events: [0] }, 'events'],
    ['an event of every object', { events: ['constructor'] }, 'events'],
    ['events as an object', { events: { 0: 'patient.created' } }, 'events'],
    ['an event in a list in a list', { events: [['patient.created']] }, 'events'],
    ['an event twice', { events: ['patient.created', 'invoice.paid', 'patient.created'] }, 'events'],
    ['a description of 501 characters', { description: 'x'.repeat(501) }, 'description'],
    ['an empty description', { description: '' }, 'description'],
    ['a blank description', { description: ' \n ' }, 'description'],
    ['a description of two lines', { description: 'one\ntwo' }, 'description'],
    ['half a character', { description: 'x\ud800' }, 'description'],
    ['a description that is a number', { description: 1 }, 'description'],
    ['an unknown field', { name: 'x' }, 'name'],
    ['a field in another spelling', { Url: 'https://example.com/' }, 'Url'],
    ['an id', { id: newUuid() }, 'id'],
    ['a time', { created_at: '2026-05-01T10:00:00+03:00' }, 'created_at'],
  ]
  it.each(both)('returns 422 for %s', async (_, facts, field) => {
    await unchanged(async () => {
      refused(await ask('create-webhook', { body: wanted(facts) }), field)
      refused(await change(id, { is_active: false, ...facts }), field)
    })
  })

  it.each<[string, unknown]>([
    ['is_active of text', 'yes'],
    ['is_active of "true"', 'true'],
    ['is_active of 1', 1],
    ['is_active of null', null],
  ])('returns 422 for %s', async (_, is_active) => {
    refused(await unchanged(() => change(id, { is_active, description: 'Changed' })), 'is_active')
  })

  it('returns 422 for a secret in a change and for is_active in a creation', async () => {
    await unchanged(async () => {
      refused(await change(id, { secret: 'sixteen-letters!' }), 'secret')
      refused(await ask('create-webhook', { body: wanted({ is_active: false }) }), 'is_active')
    })
  })

  it.each<[string, unknown]>([
    ['too short', 'fifteen-letters'],
    ['too long', 'x'.repeat(257)],
    ['with a space', 'sixteen letters!'],
    ['beyond ASCII', 'sixteen-letters-ü'],
    ['with a line feed', 'sixteen-letters!\n'],
    ['empty', ''],
    ['of bad base64', 'whsec_not*base64*at*all*not*base64*at*all'],
    ['of base64 without its padding', `whsec_${Buffer.alloc(32).toString('base64').replace('=', '')}`],
    ['of 23 bytes', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['of 65 bytes', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['that is a number', 1_234_567_890_123_456],
    ['of null', null],
  ])('returns 422 for a secret %s, and does not repeat it in the response or the log', async (_, secret) => {
    await unchanged(async () => {
      for (const answer of [
        await ask('create-webhook', { body: wanted({ secret }) }),
        await rotate(id, { body: { secret } }),
      ]) {
        refused(answer, 'secret')
        if (typeof secret === 'string' && secret !== '') {
          const told = JSON.stringify([answer.text, answer.logged])
          expect(told).not.toContain(JSON.stringify(secret).slice(1, -1))
        }
      }
    })
  })

  it('names every invalid field at once', async () => {
    const body = { events: [], description: '', secret: 'x', colour: 'red' }
    const fields = ['url', 'events', 'description', 'secret', 'colour']
    refused(await unchanged(() => ask('create-webhook', { body })), ...fields)
    const nothing = await unchanged(() => ask('create-webhook', { body: {} }))
    refused(nothing, 'url', 'events')
    expect(nothing.body.details).toEqual([
      { field: 'url', issue: 'is required' },
      { field: 'events', issue: 'is required' },
    ])
  })

  it('returns the same 404 for another clinic’s endpoint, an unknown id and a malformed id', async () => {
    const delivery = (await ping(id)).body.data.id
    headers = (await issueCredential(db.table, await newClinic(db.table))).headers
    await unchanged(async () => {
      for (const act of [
        (one: string) => change(one, { is_active: false }),
        (one: string) => remove(one),
        (one: string) => rotate(one),
        (one: string) => ping(one),
        (one: string) => deliveries(one),
        (one: string) => redeliver(one, delivery),
      ]) {
        const answers = []
        for (const one of [id, id.toUpperCase(), newUuid(), 'none', '']) answers.push(await act(one))
        const texts = answers.map(({ status, text }) => `${status} ${text}`)
        expect([...new Set(texts)]).toEqual([`404 ${JSON.stringify(NO_WEBHOOK.body)}`])
      }
    })
    expect((await list()).body.data).toEqual([])
  })

  it('returns 422 for an invalid URL before 404 for an unknown endpoint', async () => {
    refused(await change(newUuid(), { url: 'http://localhost/' }), 'url')
  })
})

it('accepts ids in capitals', async () => {
  const { id } = await created()
  const delivery = (await ping(id.toUpperCase())).body.data.id
  expect((await redeliver(id.toUpperCase(), delivery.toUpperCase())).status).toBe(202)
  expect((await change(id.toUpperCase(), { is_active: false })).status).toBe(200)
  expect((await remove(id.toUpperCase())).status).toBe(204)
})

it('returns a secret only when it is created or rotated', async () => {
  const secrets = ['the-first-secret-0123456789', 'the-second-secret-0123456789']
  const { id } = await created({ secret: secrets[0] })
  const rotated = await rotate(id, { body: { secret: secrets[1] } })
  const delivery = (await ping(id)).body.data.id
  const [received] = await attempted(500)
  const answers = [
    await list(),
    await change(id, { description: 'x' }),
    await change(id, { url: 'http://localhost/' }),
    await deliveries(id),
    await redeliver(id, delivery),
    await ask('list-events'),
    await remove(id),
  ]
  const told = JSON.stringify([
    received,
    rotated.logged,
    ...answers.flatMap(({ text, logged, headers: sent }) => [text, logged, sent]),
  ])
  for (const secret of secrets) expect(told).not.toContain(secret)
  expect(JSON.stringify(pushed())).not.toMatch(/secret/)
})

describe('the scope of a webhook endpoint', () => {
  const ROUTES: [string, Scope][] = [
    ['list-webhooks', 'webhook.read'],
    ['list-deliveries', 'webhook.read'],
    ['list-events', 'webhook.read'],
    ['create-webhook', 'webhook.write'],
    ['update-webhook', 'webhook.write'],
    ['rotate-webhook-secret', 'webhook.write'],
    ['ping-webhook', 'webhook.write'],
    ['redeliver', 'webhook.write'],
    ['delete-webhook', 'webhook.write'],
  ]

  it.each(['webhook.read', 'webhook.write'] as const)('%s allows only its own endpoints', async (scope) => {
    const { id } = await created()
    const delivery_id = (await ping(id)).body.data.id
    headers = (await issueCredential(db.table, clinic, [scope])).headers
    for (const [route, needed] of ROUTES) {
      const { status, body } = await ask(route, {
        path: { id, delivery_id },
        ...(route === 'create-webhook' && { body: wanted() }),
      })
      if (needed === scope) expect([route, status < 300]).toEqual([route, true])
      else expect([route, status, body.details]).toEqual([route, 403, [{ scope: needed }]])
    }
  })
})
