/** Second names of fields, headers and events: they do what the first names do, and appear in no response. */
import { describe, expect, it } from 'vitest'
import {
  callRoute,
  postWebhook,
  storedWebhook,
  useWebhookEndpoints,
  webhookBody,
} from '../support/webhook-requests.ts'

useWebhookEndpoints()

const url = 'https://example.com/hooks'
const SECRET = 'a secret of the integrator'.replaceAll(' ', '-')

describe('fields of a webhook endpoint', () => {
  it('can be sent under their aliases, and are stored and returned under their names', async () => {
    const { status, body } = await callRoute('create-webhook', {
      body: {
        target_url: url,
        subscribed_events: ['patient.created'],
        signing_secret: SECRET,
        is_active: false,
      },
    })
    expect(status).toBe(201)
    const { id, secret, ...data } = body.data
    expect([secret, data]).toEqual([
      SECRET,
      expect.objectContaining({ url, events: ['patient.created'], is_active: false }),
    ])
    expect(JSON.stringify(body)).not.toMatch(/target_url|subscribed_events|signing_secret/)
    expect(await storedWebhook(id)).toMatchObject({
      url,
      events: ['patient.created'],
      secret: SECRET,
      isActive: false,
    })
  })

  it('can be changed under their aliases, beside names', async () => {
    const { id } = await postWebhook()
    const { status, body } = await callRoute('update-webhook', {
      path: { id },
      body: { target_url: 'https://example.com/other', events: ['patient.updated'] },
    })
    expect([status, body.data]).toEqual([
      200,
      expect.objectContaining({ url: 'https://example.com/other', events: ['patient.updated'] }),
    ])
  })

  it('are rejected together with their alias, even with the same value', async () => {
    const body = { ...webhookBody(), target_url: webhookBody().url, subscribed_events: ['none'] }
    expect((await callRoute('create-webhook', { body })).body).toMatchObject({
      error: 'VALIDATION',
      details: [
        { field: 'target_url', issue: 'is another name of url: send one of the two' },
        { field: 'subscribed_events', issue: 'is another name of events: send one of the two' },
      ],
    })
  })

  it('are named in details as they were sent', async () => {
    const body = { target_url: 7, subscribed_events: ['patient.created', 'none'] }
    const { details } = (await callRoute('create-webhook', { body })).body
    expect(details.map(({ field }: { field: string }) => field).join()).toBe('target_url,subscribed_events.1')
  })

  it('have no aliases in requests of other endpoints', async () => {
    const body = { first_name: 'Ada', last_name: 'Kaya', target_url: url }
    const { details } = (await callRoute('create-patient', { body })).body
    expect(details).toEqual([{ field: 'target_url', issue: 'is not a field of this request' }])
  })
})

describe('the event payment.received', () => {
  it('is stored and returned as payment.created', async () => {
    const { id, events } = await postWebhook({ events: ['payment.received', 'patient.created'] })
    expect(events).toEqual(['payment.created', 'patient.created'])
    expect((await storedWebhook(id)).events).toEqual(['payment.created', 'patient.created'])
  })

  it('is the same event as payment.created in a list', async () => {
    const body = webhookBody({ events: ['payment.received', 'payment.created'] })
    const { details } = (await callRoute('create-webhook', { body })).body
    expect(details).toEqual([{ field: 'events', issue: 'must not name an event twice' }])
  })

  it('filters the list of events as payment.created does', async () => {
    expect((await callRoute('list-events', { query: { event: 'payment.received' } })).status).toBe(200)
    expect((await callRoute('list-events', { query: { event: 'payment.sent' } })).status).toBe(400)
  })
})

describe('the header x-idempotency-key', () => {
  const create = (headers: Record<string, string>, events = ['patient.created']) =>
    callRoute('create-webhook', { body: { url, events }, headers })

  it('makes a request safe to repeat, under either name of the header', async () => {
    const first = await create({ 'X-Idempotency-Key': 'k' })
    for (const headers of [
      { 'x-idempotency-key': 'k' },
      { 'idempotency-key': 'k' },
      { 'idempotency-key': 'k', 'x-idempotency-key': 'k' },
    ]) {
      const again = await create(headers as Record<string, string>)
      expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true'])
    }
    expect((await callRoute('list-webhooks')).body.meta.total).toBe(1)
  })

  it('must not differ from idempotency-key', async () => {
    const { status, body } = await create({ 'idempotency-key': 'k', 'x-idempotency-key': 'other' })
    expect([status, body]).toEqual([
      400,
      { error: 'INVALID_PARAMS', message: 'errors.developer_api.conflicting_idempotency_keys' },
    ])
    expect((await callRoute('list-webhooks')).body.meta.total).toBe(0)
  })

  it('must be visible ASCII', async () => {
    expect((await create({ 'x-idempotency-key': 'a b' })).status).toBe(422)
  })
})
