/** `details` names every wrong field at once: no check hides what another one would report. */
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../shared/domain/uuid.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, stubFunctionEnvironment } from '../support/functions.ts'
import { freshTable, newClinic } from '../support/table.ts'

let headers: Record<string, string>
beforeAll(async () => {
  const db = await freshTable()
  stubFunctionEnvironment(db.name)
  const clinic = await newClinic(db.table)
  headers = (await issueCredential(db.table, clinic)).headers
})

async function detailsOf(id: string, body: object, path = {}): Promise<[field: string, issue: string][]> {
  const { status, body: answer } = await request(id, { path, headers, body })
  expect([status, answer.message]).toEqual([422, 'errors.developer_api.validation'])
  return answer.details.map(({ field, issue }: { field: string; issue: string }) => [field, issue])
}

const fieldsOf = async (...sent: Parameters<typeof detailsOf>) =>
  (await detailsOf(...sent)).map(([field]) => field)

it('a patient is rejected with every wrong field, when created and when changed', async () => {
  const wrong = {
    first_name: '',
    last_name: 1,
    gender: 'x',
    phone_number: '12',
    email_address: 'none',
    accepts_sms: null,
    accepts_email: 'false',
    language: 'english',
    national_id: 'a b',
    notes: '\u0000',
    is_active: true,
  }
  const fields = ['is_active', ...Object.keys(wrong).filter((field) => field !== 'is_active')]
  expect(await fieldsOf('create-patient', wrong)).toEqual(fields)
  expect(await fieldsOf('update-patient', wrong, { id: newUuid() })).toEqual(fields)
})

it('a message is rejected with every wrong field, and what the channel does not permit', async () => {
  const long = { channel: 'sms', message: 'x'.repeat(1531), subject: 'Hello', colour: 'blue' }
  expect(await fieldsOf('send-message', long)).toEqual(['colour', 'patient_id', 'message', 'subject'])
})

describe('a list', () => {
  const ask = async (id: string, query: Record<string, string>, path = {}) =>
    (await request(id, { query, path, headers })).body

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
})
