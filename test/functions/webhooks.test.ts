/** Creating, listing, changing and deleting webhook endpoints, and the checks of their requests. */
import { beforeEach, describe, expect, it } from 'vitest'
import { revokeCredentials } from '../../bin/clinic/credentials/credential-revocation.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { EVENTS } from '../../shared/domain/webhooks/event.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { HEALTHY } from '../../shared/domain/webhooks/webhook-health.ts'
import { decodeHealth } from '../../shared/store/events/items.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import { webhookHealthKey } from '../../shared/store/keys/webhooks.ts'
import { UNREQUESTED } from '../../shared/store/table/idempotency.ts'
import { issueCredential } from '../support/credentials.ts'
import { interruptedTable } from '../support/intercepted-table.ts'
import {
  advanceTime,
  callRoute,
  change,
  clinic,
  db,
  deliveries,
  deliverLastPush,
  expectUnchanged,
  list,
  NO_WEBHOOK,
  ping,
  postWebhook,
  pushed,
  redeliver,
  remove,
  rotate,
  sendWith,
  storedWebhook,
  TIME,
  TOO_MANY,
  UUID,
  useWebhookEndpoints,
  webhookBody,
  withKey,
} from '../support/webhook-requests.ts'

useWebhookEndpoints()

/** The health of an endpoint that failed. */
const FAILING = { isSlow: true, failingSince: Date.now() }

describe('POST /webhooks', () => {
  it('returns 201 with the endpoint, its secret and its location', async () => {
    const { status, body, headers: sent } = await callRoute('create-webhook', { body: webhookBody() })
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
    expect((await storedWebhook(body.data.id)).secret).toBe(secret)
  })

  it('leaves no endpoint of a credential that is revoked with its webhooks at the same time', async () => {
    for (let round = 0; round < 8; round++) {
      const { key, headers } = await issueCredential(db.table, clinic)
      const [{ status }] = await Promise.all([
        callRoute('create-webhook', { body: webhookBody(), headers }),
        revokeCredentials(db.table, clinic.id, [key], { onDelete: () => {} }),
      ])
      expect([201, 401]).toContain(status)
      expect((await list()).body.data).toEqual([])
    }
  })

  it('accepts a secret of its own, and shows it only in this response', async () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    const { id, ...shown } = await postWebhook({ secret })
    expect(shown.secret).toBe(secret)
    expect((await storedWebhook(id)).secret).toBe(secret)
    expect((await list()).text).not.toContain(secret)
  })

  it.each([
    ['  Ours, for billing  ', 'Ours, for billing'],
    [null, null],
    ['😀'.repeat(500), '😀'.repeat(500)],
  ])('accepts the description %j', async (description, shown) => {
    expect((await postWebhook({ description })).description).toBe(shown)
  })

  it('creates one endpoint when requests under one key race, and another for another credential', async () => {
    const more = { ...withKey('k'), body: webhookBody() }
    const responses = await Promise.all(Array.from({ length: 8 }, () => callRoute('create-webhook', more)))
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect((await list()).body.meta.total).toBe(1)
    sendWith((await issueCredential(db.table, clinic)).headers)
    expect((await callRoute('create-webhook', more)).text).not.toBe(responses[0]?.text)
    expect((await list()).body.meta.total).toBe(2)
  })
})

describe('the limit of twenty endpoints', () => {
  const fill = async (count = 20) => {
    const ids: string[] = []
    for (let n = 0; n < count; n++) ids.push((await postWebhook()).id)
    return ids
  }

  it('returns 422 for the 21st until one is deleted', async () => {
    const ids = await fill()
    expect(await expectUnchanged(() => callRoute('create-webhook', { body: webhookBody() }))).toMatchObject(
      TOO_MANY,
    )
    expect((await remove(ids[3] as string)).status).toBe(204)
    // Deleting the same endpoint again does not lower the count.
    expect((await remove(ids[3] as string)).status).toBe(404)
    await postWebhook()
    expect(await callRoute('create-webhook', { body: webhookBody() })).toMatchObject(TOO_MANY)
    expect((await list({ limit: '100' })).body.meta.total).toBe(20)
  })

  it('holds when 25 requests race', async () => {
    const responses = await Promise.all(
      Array.from({ length: 25 }, () => callRoute('create-webhook', { body: webhookBody() })),
    )
    const statuses = responses.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(20).fill(201), ...Array(5).fill(422)])
    const { body } = await list({ limit: '100' })
    const made = responses.flatMap(({ body: { data } }) => (data ? [data.id] : []))
    expect(body.data.map(({ id }: Webhook) => id).sort()).toEqual(made.sort())
  })

  it('counts each deletion once when deletions race', async () => {
    const ids = await fill()
    const responses = await Promise.all(
      ids.slice(0, 4).flatMap((id) => Array.from({ length: 4 }, () => remove(id))),
    )
    expect(responses.filter(({ status }) => status === 204).length).toBe(4)
    await fill(4)
    expect(await callRoute('create-webhook', { body: webhookBody() })).toMatchObject(TOO_MANY)
  })

  it('does not apply to the repetition of an earlier request', async () => {
    const more = { ...withKey('k'), body: webhookBody() }
    const first = await callRoute('create-webhook', more)
    await fill(19)
    expect((await callRoute('create-webhook', more)).text).toBe(first.text)
  })
})

describe('GET /webhooks', () => {
  it('returns each endpoint once, oldest first, for every page size', async () => {
    const ids: string[] = []
    for (let n = 0; n < 7; n++) {
      // Some have the same creation time.
      if (n % 3 === 0) advanceTime(60_000)
      ids.push((await postWebhook({ description: `no. ${n}` })).id)
    }
    const all = (await list()).body.data
    const times = all.map(({ created_at }: { created_at: string }) => created_at)
    expect(times).toEqual([...times].sort())
    expect(all.map(({ id }: Webhook) => id).sort()).toEqual([...ids].sort())
    for (const limit of [1, 2, 3, 6, 7, 8, 100]) {
      const pages = Math.ceil(7 / limit)
      const listed = []
      for (let page = 1; page <= pages; page++) {
        const { body } = await list({ page: String(page), limit: String(limit) })
        expect(body.meta).toEqual({ page, limit, total: 7, total_pages: pages })
        listed.push(...body.data)
      }
      expect(listed).toEqual(all)
      expect((await list({ page: String(pages + 1), limit: String(limit) })).body.data).toEqual([])
    }
  })

  it('returns an empty page when there are none', async () => {
    expect((await list()).body).toEqual({ data: [], meta: { page: 1, limit: 20, total: 0, total_pages: 0 } })
  })
})

describe('PATCH /webhooks/{id}', () => {
  it('writes nothing when no value changes', async () => {
    const { id, secret: _, ...before } = await postWebhook({ description: 'Ours' })
    advanceTime(60_000)
    for (const body of [{}, { url: before.url, events: before.events, description: 'Ours' }, undefined]) {
      const response = await expectUnchanged(() => change(id, body))
      expect(response).toMatchObject({ status: 200, body: { data: { id, ...before } } })
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
    const { id, secret, ...before } = await postWebhook({ description: 'Ours' })
    advanceTime(60_000)
    const { status, body } = await change(id, changes)
    expect(status).toBe(200)
    expect(body.data).toEqual({ id, ...before, ...changes, updated_at: expect.stringMatching(TIME) })
    expect(body.data.updated_at > before.updated_at).toBe(true)
    expect((await list()).body.data).toEqual([body.data])
    expect(await storedWebhook(id)).toMatchObject({ secret, previousSecrets: [] })
  })

  it('applies all changes when requests for different fields race', async () => {
    const { id } = await postWebhook()
    const changes = [{ url: 'https://example.org/' }, { events: ['invoice.paid'] }, { description: 'x' }]
    await Promise.all(changes.map((body) => change(id, body)))
    expect((await list()).body.data).toMatchObject([Object.assign({}, ...changes)])
  })

  it('resets the endpoint’s health only when it sets is_active to true, or a URL', async () => {
    const { id } = await postWebhook()
    const health = () => db.table.get(webhookHealthKey(clinic.id, id))
    await webhookHealthStore(db).record(clinic.id, id, HEALTHY, FAILING)
    for (const body of [{}, { description: 'x' }, { is_active: false }]) {
      await change(id, body)
      expect(await health()).toMatchObject(FAILING)
    }
    expect((await change(id, { is_active: true })).body.data.is_active).toBe(true)
    expect(decodeHealth(await health())).toEqual(HEALTHY)
    await webhookHealthStore(db).record(clinic.id, id, HEALTHY, FAILING)
    await change(id, { url: 'https://example.net/' })
    expect(decodeHealth(await health())).toEqual(HEALTHY)
  })
})

describe('DELETE /webhooks/{id}', () => {
  it('returns 204 without a body, after which every request returns 404', async () => {
    const [{ id }, other] = [await postWebhook(), await postWebhook()]
    const delivery = (await ping(id)).body.data.id
    const gone = await remove(id)
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect(gone.headers).not.toHaveProperty('content-type')
    await expectUnchanged(async () => {
      for (const response of [
        await remove(id),
        await change(id, { is_active: true }),
        await rotate(id),
        await ping(id),
        await deliveries(id),
        await redeliver(id, delivery),
      ])
        expect(response).toMatchObject(NO_WEBHOOK)
    })
    expect((await list()).body.data.map(({ id }: Webhook) => id)).toEqual([other.id])
  })

  it('deletes the endpoint’s health, and a late delivery or change does not create it again', async () => {
    const { id } = await postWebhook()
    const health = webhookHealthStore(db)
    await health.record(clinic.id, id, HEALTHY, FAILING)
    const { change } = webhookStore({ table: interruptedTable(db.table, () => remove(id)) })
    expect(await change(clinic.id, id, (before) => before, UNREQUESTED, true)).toBeNull()
    await health.record(clinic.id, id, HEALTHY, FAILING)
    expect(await db.table.get(webhookHealthKey(clinic.id, id))).toBeUndefined()
  })
})

it('an idempotency key that was used for one endpoint does not return its response for another', async () => {
  const [one, other] = [await postWebhook(), await postWebhook()]
  const first = await ping(one.id, withKey('k'))
  expect((await ping(other.id, withKey('k'))).text).not.toBe(first.text)
})

describe('the checks of a webhook request', () => {
  const rejected = (response: Awaited<ReturnType<typeof callRoute>>, ...fields: string[]) => {
    expect(response).toMatchObject({
      status: 422,
      body: { error: 'VALIDATION', message: 'errors.developer_api.validation' },
    })
    const named = response.body.details.map(({ field }: { field: string }) => field.replace(/\..*/, ''))
    expect([...new Set(named)].sort()).toEqual(fields.sort())
    for (const { issue } of response.body.details) expect(issue).toMatch(/^[a-z][^\p{Cc}]{5,}$/u)
  }

  let id: string
  beforeEach(async () => {
    id = (await postWebhook({ description: 'Ours' })).id
  })

  /** Invalid for the creation and for the change of an endpoint alike. */
  const both: [string, object, string][] = [
    ['an address of a private network', { url: 'https://127.0.0.1/' }, 'url'],
    ['an address that is a number', { url: 1 }, 'url'],
    ['an unknown event', { events: ['patient.deleted'] }, 'events'],
    ['the ping, which needs no subscription', { events: ['webhook.ping'] }, 'events'],
    ['no events', { events: [] }, 'events'],
    ['an event that is not in a list', { events: 'patient.created' }, 'events'],
    ['an event twice', { events: ['patient.created', 'invoice.paid', 'patient.created'] }, 'events'],
    ['a description of two lines', { description: 'one\ntwo' }, 'description'],
    ['an unknown field', { name: 'x' }, 'name'],
    ['an id', { id: newUuid() }, 'id'],
    ['a time', { created_at: '2026-05-01T10:00:00+03:00' }, 'created_at'],
  ]
  it.each(both)('returns 422 for %s', async (_, facts, field) => {
    await expectUnchanged(async () => {
      rejected(await callRoute('create-webhook', { body: webhookBody(facts) }), field)
      rejected(await change(id, { is_active: false, ...facts }), field)
    })
  })

  it.each(['true', 1, null])('returns 422 for is_active of %j', async (is_active) => {
    rejected(await expectUnchanged(() => change(id, { is_active, description: 'Changed' })), 'is_active')
  })

  it.each<[string, unknown]>([
    ['too short', 'fifteen-letters'],
    ['of bad base64', 'whsec_not*base64*at*all*not*base64*at*all'],
    ['that is a number', 1_234_567_890_123_456],
    ['that is null', null],
  ])('returns 422 for a secret %s, and does not repeat it in the response or the log', async (_, secret) => {
    await expectUnchanged(async () => {
      for (const response of [
        await callRoute('create-webhook', { body: webhookBody({ secret }) }),
        await rotate(id, { body: { secret } }),
        await change(id, { secret }),
      ]) {
        rejected(response, 'secret')
        if (typeof secret === 'string' && secret !== '') {
          const told = JSON.stringify([response.text, response.logged])
          expect(told).not.toContain(JSON.stringify(secret).slice(1, -1))
        }
      }
    })
  })

  it('names every invalid field at once', async () => {
    const body = { events: [], description: '', secret: 'x', colour: 'red' }
    const fields = ['url', 'events', 'description', 'secret', 'colour']
    rejected(await expectUnchanged(() => callRoute('create-webhook', { body })), ...fields)
    const nothing = await expectUnchanged(() => callRoute('create-webhook', { body: {} }))
    rejected(nothing, 'url', 'events')
    expect(nothing.body.details).toEqual([
      { field: 'url', issue: 'is required' },
      { field: 'events', issue: 'is required' },
    ])
  })

  it('returns 422 for an invalid URL before 404 for an unknown endpoint', async () => {
    rejected(await change(newUuid(), { url: 'http://localhost/' }), 'url')
  })
})

it('returns a secret only when it is created or rotated', async () => {
  const secrets = ['the-first-secret-0123456789', 'the-second-secret-0123456789']
  const { id } = await postWebhook({ secret: secrets[0] })
  const rotated = await rotate(id, { body: { secret: secrets[1] } })
  const delivery = (await ping(id)).body.data.id
  const [received] = await deliverLastPush(500)
  const responses = [
    await list(),
    await change(id, { description: 'x' }),
    await change(id, { url: 'http://localhost/' }),
    await deliveries(id),
    await redeliver(id, delivery),
    await callRoute('list-events'),
    await remove(id),
  ]
  const told = JSON.stringify([
    received,
    rotated.logged,
    ...responses.flatMap(({ text, logged, headers: sent }) => [text, logged, sent]),
  ])
  for (const secret of secrets) expect(told).not.toContain(secret)
  expect(JSON.stringify(pushed())).not.toMatch(/secret/)
})
