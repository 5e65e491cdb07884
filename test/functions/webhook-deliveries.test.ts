/** Pinging webhook endpoints, listing deliveries and delivering again. */
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { DueDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { HEALTHY } from '../../shared/domain/webhooks/webhook-health.ts'
import { deliveryStore } from '../../shared/store/events/deliveries.ts'
import { dueDeliveries } from '../../shared/store/events/due-deliveries.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { issueCredential } from '../support/credentials.ts'
import { newClinic } from '../support/table.ts'
import {
  advanceTime,
  callRoute,
  change,
  clinic,
  db,
  deliveries,
  deliverLastPush,
  expectUnchanged,
  headers,
  list,
  NO_DELIVERY,
  NO_WEBHOOK,
  ping,
  postWebhook,
  pushed,
  redeliver,
  remove,
  sendWith,
  sqs,
  TIME,
  UUID,
  useWebhookEndpoints,
  withKey,
} from '../support/webhook-requests.ts'

useWebhookEndpoints()

async function dueWithin(ms: number): Promise<DueDelivery[]> {
  const due: DueDelivery[] = []
  for await (const batch of dueDeliveries(db).dueBatches(Date.now() + ms, 1000)) due.push(...batch)
  return due
}

describe('the health of GET /webhooks/{id}', () => {
  const at = (minute: number) => `2026-05-04T07:0${minute}:00.000Z`
  const attempt = (minute: number, status: number | null, error: string | null = null) => ({
    at: at(minute),
    status,
    error,
    latencyMs: 9,
  })
  const shown = (minute: number, status: number | null, error: string | null = null) => ({
    attempted_at: `2026-05-04T10:0${minute}:00+03:00`,
    response_status: status,
    error,
    latency_ms: 9,
  })
  const get = (id: string) => callRoute('get-webhook', { path: { id } })
  const setFacts = (id: string, delivery: string, facts: object) =>
    deliveryStore(db).change(clinic.id, id, delivery, (before) => ({ ...before, ...facts }))

  it('is that of a new endpoint without deliveries, and lists lack it', async () => {
    const { id } = await postWebhook()
    const { health, ...webhook } = (await get(id)).body.data
    expect(health).toEqual({
      is_slow: false,
      failing_since: null,
      next_attempt_at: null,
      last_success: null,
      last_failure: null,
    })
    expect((await list()).body.data).toEqual([webhook])
  })

  it('has the last success and the last failure of all deliveries, and changes no etag', async () => {
    const { id } = await postWebhook()
    const before = await get(id)
    const older = (await ping(id)).body.data.id
    const newer = (await ping(id)).body.data.id
    const done = { status: 'delivered', nextAt: null, dueAt: null }
    await setFacts(id, older, { ...done, attempts: [attempt(1, null, 'dns'), attempt(2, 204)] })
    const due = { isManual: false, nextAt: Date.parse(at(9)), dueAt: Date.parse(at(9)) }
    const attempts = [attempt(3, null, 'dns'), attempt(4, 500)]
    await setFacts(id, newer, { ...due, attempts })
    const failing = { isSlow: true, failingSince: Date.parse(at(3)) }
    await webhookHealthStore(db).record(clinic.id, id, HEALTHY, failing)
    const { body, headers } = await get(id)
    expect(body.data.health).toEqual({
      is_slow: true,
      failing_since: '2026-05-04T10:03:00+03:00',
      next_attempt_at: '2026-05-04T10:09:00+03:00',
      last_success: shown(2, 204),
      last_failure: shown(4, 500),
    })
    expect(headers.etag).toBe(before.headers.etag)
    await change(id, { is_active: false })
    expect((await get(id)).body.data.health.next_attempt_at).toBeNull()
    await setFacts(id, newer, { isManual: true })
    expect((await get(id)).body.data.health.next_attempt_at).toBe('2026-05-04T10:09:00+03:00')
  })
})

describe('POST /webhooks/{id}/ping', () => {
  it('creates a delivery and queues it', async () => {
    const { id } = await postWebhook()
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
    const [received] = await deliverLastPush(200)
    expect(JSON.parse(received?.body ?? '')).toEqual({
      id: body.data.event_id,
      event: 'webhook.ping',
      clinic_id: clinic.id,
      created_at: expect.stringMatching(TIME),
      sequence: 1,
      source: 'api',
      request_id: 'request-1',
      data: { id },
    })
  })

  it('reaches a disabled endpoint without a subscription to pings', async () => {
    const { id } = await postWebhook()
    await change(id, { is_active: false })
    expect((await ping(id)).status).toBe(202)
    expect((await deliverLastPush(200)).length).toBe(1)
    expect((await deliveries(id)).body.data).toMatchObject([{ status: 'delivered' }])
  })

  it('adds no event to GET /events', async () => {
    await ping((await postWebhook()).id)
    expect((await callRoute('list-events')).body).toEqual({
      data: [],
      meta: { limit: 20, next_after: expect.any(String), has_more: false },
    })
  })

  it('returns 202, leaves the delivery to the sweep and logs why when it cannot be queued', async () => {
    const { id } = await postWebhook()
    sqs.on(SendMessageBatchCommand).rejects(new Error('down'))
    const response = await ping(id)
    expect(response.status).toBe(202)
    expect(response.logged).toContain('"error":"delivery_not_queued","origin":{"name":"Error"')
    const due = await dueWithin(5 * 60_000)
    expect(due.map(({ id }) => id)).toContain(response.body.data.id)
  })

  it('creates one delivery when requests under one key race or are repeated, also after the deletion of the endpoint', async () => {
    const { id } = await postWebhook()
    const responses = await Promise.all(Array.from({ length: 8 }, () => ping(id, withKey('k'))))
    responses.push(await expectUnchanged(() => ping(id, withKey('k'))))
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect((await deliveries(id)).body.data.length).toBe(1)
    expect(pushed().length).toBe(1)
    expect((await ping(id, withKey('l'))).text).not.toBe(responses[0]?.text)
    await remove(id)
    expect((await ping(id, withKey('k'))).text).toBe(responses[0]?.text)
    expect(await ping(id, withKey('m'))).toMatchObject({ status: 404 })
  })
})

describe('GET /webhooks/{id}/deliveries', () => {
  it('returns each delivery once, latest first, for every page size', async () => {
    const { id } = await postWebhook()
    const other = await postWebhook()
    const ids: string[] = []
    for (let n = 0; n < 7; n++) {
      if (n % 3 === 0) advanceTime(60_000)
      ids.unshift((await ping(id)).body.data.id)
      await ping(other.id)
    }
    for (const limit of [1, 2, 3, 6, 7, 8, 100]) {
      const listed: string[] = []
      let after: string | undefined
      for (let more = true; more; ) {
        const { body } = await deliveries(id, { limit: String(limit), ...(after !== undefined && { after }) })
        listed.push(...body.data.map((delivery: { id: string }) => delivery.id))
        const hasMore = listed.length < 7
        expect(body.meta).toEqual({ limit, next_after: hasMore ? listed.at(-1) : null, has_more: hasMore })
        after = body.meta.next_after
        more = body.meta.has_more
      }
      expect(listed).toEqual(ids)
      const { body } = await deliveries(id, { limit: String(limit), after: ids.at(-1) as string })
      expect(body).toEqual({ data: [], meta: { limit, next_after: after, has_more: false } })
    }
  })

  it('returns an empty page without a cursor when there are none', async () => {
    const { id } = await postWebhook()
    expect((await deliveries(id)).body).toEqual({
      data: [],
      meta: { limit: 20, next_after: null, has_more: false },
    })
  })

  it('returns the attempts and the time of the next one in the clinic’s zone', async () => {
    const { id } = await postWebhook()
    advanceTime(60_000)
    const made = (await ping(id)).body.data
    const start = Date.now()
    const shown = async () => (await deliveries(id)).body.data
    await deliverLastPush(500, start)
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
    await deliverLastPush(204, start + 6000)
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
    const { id } = await postWebhook()
    await ping(id)
    advanceTime(20 * 24 * 3_600_000)
    const recent = (await ping(id)).body.data.id
    advanceTime(11 * 24 * 3_600_000)
    for (const query of [{}, { limit: '1' }] as Record<string, string>[]) {
      const { body } = await deliveries(id, query)
      expect(body.data.map((delivery: { id: string }) => delivery.id)).toEqual([recent])
      expect(body.meta).toMatchObject({ next_after: null, has_more: false })
    }
    expect((await deliveries(id, { after: recent })).body.data).toEqual([])
  })

  it.each(['', 'x', '1', 'x'.repeat(36), 'x'.repeat(65), ' ', '../../etc', '\u0000', 'ä'])(
    'have no cursor %j',
    async (after) => {
      const { id } = await postWebhook()
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
  ])(
    'starts a new schedule and keeps the attempts of a delivery that was %s',
    async (_, responseStatus, status) => {
      const { id } = await postWebhook()
      const made = (await ping(id)).body.data
      if (responseStatus !== null) await deliverLastPush(responseStatus)
      expect(await stored(id, made.id)).toMatchObject({ status })
      const before = pushed().length
      const { status: code, body } = await redeliver(id, made.id)
      expect(code).toBe(202)
      expect(body.data).toMatchObject({ id: made.id, event_id: made.event_id, status: 'pending' })
      expect(body.data.attempts.length).toBe(responseStatus === null ? 0 : 1)
      expect(body.data.next_attempt_at).toMatch(TIME)
      const queued = { clinic: clinic.id, webhook: id, delivery: made.id }
      expect(pushed().slice(before)).toEqual([
        { queue: process.env.DELIVERY_QUEUE_URL, delay: undefined, ...queued },
      ])
      expect(await stored(id, made.id)).toMatchObject({ failedAttempts: 0, isManual: true, claim: null })
      // The 410 disabled the endpoint; the delivery is attempted under the same id.
      expect(await deliverLastPush(200)).toMatchObject([{ headers: { 'webhook-id': made.event_id } }])
      expect(await stored(id, made.id)).toMatchObject({ status: 'delivered', dueAt: null })
    },
  )

  it('leaves one due item when it is repeated', async () => {
    const { id } = await postWebhook()
    const made = (await ping(id)).body.data.id
    advanceTime(10_000)
    await redeliver(id, made)
    advanceTime(10_000)
    await redeliver(id, made)
    const due = await dueWithin(10 * 60_000)
    expect(due.filter((one) => one.id === made).length).toBe(1)
  })

  it('returns 404 for a delivery older than 30 days before it is deleted', async () => {
    const { id } = await postWebhook()
    const made = (await ping(id)).body.data.id
    advanceTime(31 * 24 * 3_600_000)
    expect((await deliveries(id)).body.data).toEqual([])
    expect(await redeliver(id, made)).toMatchObject(NO_DELIVERY)
  })

  it('returns 202 and logs why when the delivery cannot be queued', async () => {
    const { id } = await postWebhook()
    const made = (await ping(id)).body.data.id
    sqs.on(SendMessageBatchCommand).rejects(new Error('down'))
    const response = await redeliver(id, made)
    expect(response.status).toBe(202)
    expect(response.logged).toContain('"error":"delivery_not_queued","origin":{"name":"Error"')
  })

  it('returns 404 for a delivery of another endpoint or another clinic', async () => {
    const [mine, other] = [await postWebhook(), await postWebhook()]
    const [own, others] = [(await ping(mine.id)).body.data.id, (await ping(other.id)).body.data.id]
    const there = headers
    sendWith((await issueCredential(db.table, await newClinic(db.table))).headers)
    const foreign = await postWebhook()
    const theirs = (await ping(foreign.id)).body.data.id
    sendWith(there)
    const texts = await expectUnchanged(async () => {
      const responses = [others, theirs, newUuid(), 'none'].map((id) => redeliver(mine.id, id))
      return (await Promise.all(responses)).map(({ status, text }) => `${status} ${text}`)
    })
    expect([...new Set(texts)]).toEqual([`404 ${JSON.stringify(NO_DELIVERY.body)}`])
    expect(await expectUnchanged(() => redeliver(foreign.id, own))).toMatchObject(NO_WEBHOOK)
    expect(await expectUnchanged(() => redeliver(foreign.id, theirs))).toMatchObject(NO_WEBHOOK)
  })
})
