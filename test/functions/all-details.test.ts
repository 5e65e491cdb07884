/** `details` names every wrong field at once: no check hides what another one would report. */
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../shared/domain/uuid.ts'
import { issueCredential } from '../support/credentials.ts'
import { createWebhook } from '../support/deliveries.ts'
import { call } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { freshTable, newClinic } from '../support/table.ts'

let headers: Record<string, string>
let webhook: string

beforeAll(async () => {
  const db = await freshTable()
  stubFunctionEnvironment(db.name)
  const clinic = await newClinic(db.table)
  headers = { ...(await issueCredential(db.table, clinic)).headers, 'content-type': 'application/json' }
  webhook = (await createWebhook(db.table, clinic.id)).id
})

async function detailsOf(id: string, body: object, path = {}): Promise<[field: string, issue: string][]> {
  const sent = { method: 'POST', path, headers, body: JSON.stringify(body) }
  const { status, body: answer } = await call(await handlerOf({ id }), sent)
  expect([status, answer.message]).toEqual([422, 'errors.developer_api.validation'])
  return answer.details.map(({ field, issue }: { field: string; issue: string }) => [field, issue])
}

const fieldsOf = async (...request: Parameters<typeof detailsOf>) =>
  (await detailsOf(...request)).map(([field]) => field)

it('a patient is rejected with every wrong field, when created and when changed', async () => {
  const wrong = {
    first_name: '',
    last_name: 1,
    gender: 'x',
    phone_number: '12',
    email_address: 'none',
    national_id: 'a b',
    notes: '\u0000',
    is_active: true,
  }
  const fields = ['is_active', ...Object.keys(wrong).filter((field) => field !== 'is_active')]
  expect(await fieldsOf('create-patient', wrong)).toEqual(fields)
  expect(await fieldsOf('update-patient', wrong, { id: newUuid() })).toEqual(fields)
})

describe('a webhook endpoint', () => {
  const wrong = {
    url: 'http://example.com/',
    events: ['patient.created', 'unknown'],
    description: '',
    secret: 'short',
    is_active: 'yes',
    colour: 'blue',
  }

  it('is rejected with every wrong field, its URL too', async () => {
    expect(await fieldsOf('create-webhook', wrong)).toEqual([
      'colour',
      'url',
      'events.1',
      'description',
      'secret',
      'is_active',
    ])
    const { secret: _, ...changes } = wrong
    const changed = await fieldsOf('update-webhook', changes, { id: webhook })
    expect(changed).toEqual(['colour', 'url', 'events.1', 'description', 'is_active'])
  })

  it('has one reason for each URL', async () => {
    expect(await detailsOf('create-webhook', { url: 7, events: [] })).toEqual([
      ['url', 'must be text'],
      ['events', 'must name at least one event'],
    ])
  })
})

describe('a message', () => {
  const sms = { channel: 'sms', patient_id: newUuid(), message: 'Hello' }

  it('is rejected with every wrong field, and what the channel does not permit', async () => {
    const long = { channel: 'sms', message: 'x'.repeat(1531), subject: 'Hello', colour: 'blue' }
    expect(await fieldsOf('send-message', long)).toEqual(['colour', 'patient_id', 'message', 'subject'])
  })

  it('has one reason for each field', async () => {
    expect(await detailsOf('send-message', { ...sms, message: '', subject: 'a\nb' })).toEqual([
      ['message', 'must not be empty'],
      ['subject', 'must be one line, without control characters'],
    ])
    expect(await fieldsOf('send-message', { ...sms, channel: 'fax', subject: 'Hello' })).toEqual(['channel'])
  })
})

it.each([
  ['no visible character', '\u200b\u2060'],
  ['a directional override', 'Ada \u202eayaK'],
  ['a character in place of invalid bytes', 'M\ufffdller'],
])('text with %s is rejected as a name and as a subject', async (_, text) => {
  expect(await fieldsOf('create-patient', { first_name: 'Ada', last_name: text })).toEqual(['last_name'])
  const email = { channel: 'email', patient_id: newUuid(), message: 'Hello', subject: text }
  expect(await fieldsOf('send-message', email)).toEqual(['subject'])
})

it('a message is rejected with a character in place of invalid bytes', async () => {
  const sms = { channel: 'sms', patient_id: newUuid(), message: 'Gr\ufffd\ufffde' }
  expect(await fieldsOf('send-message', sms)).toEqual(['message'])
})

describe('a list', () => {
  const ask = async (id: string, query: Record<string, string>, path = {}) =>
    (await call(await handlerOf({ id }), { query, path, headers })).body

  it.each([
    ['list-appointments', 'date_from', 'date_to'],
    ['list-invoices', 'from', 'to'],
    ['list-payments', 'from', 'to'],
    ['list-messages', 'from', 'to'],
  ])('%s is rejected with its date range and every other wrong parameter', async (id, from, to) => {
    const range = { [from]: '2026-05-02', [to]: '2026-05-01' }
    const { details } = await ask(id, { ...range, limit: '0', patient_id: 'x' })
    expect(details.map(({ field }: { field: string }) => field)).toEqual(['limit', 'patient_id', from])
    const { details: one } = await ask(id, { [from]: '2026-05-32', [to]: '2026-05-01' })
    expect(one.map(({ issue }: { issue: string }) => issue)).toEqual([
      'must be a date that exists, as YYYY-MM-DD',
    ])
  })

  it.each([
    ['list-events', () => ({})],
    ['list-deliveries', () => ({ id: webhook })],
  ])('%s has an error of its own for a cursor alone', async (id, path) => {
    for (const after of ['-', 'x y', '']) {
      const { error, message, details } = await ask(id, { after }, path())
      expect([error, message]).toEqual(['INVALID_PARAMS', 'errors.developer_api.invalid_cursor'])
      expect(details).toEqual([{ field: 'after', issue: 'must be the next_after of an earlier response' }])
    }
    const { message, details } = await ask(id, { after: 'x y', limit: '0' }, path())
    expect(message).toBe('errors.developer_api.invalid_params')
    expect(details.map(({ field }: { field: string }) => field)).toEqual(['after', 'limit'])
  })
})
