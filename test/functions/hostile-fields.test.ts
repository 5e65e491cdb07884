/** Email addresses, names and subjects that would mislead a mail program or a reader, through the handlers. */
import { beforeAll, describe, expect, it } from 'vitest'
import { issueCredential } from '../support/credentials.ts'
import { call } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { HOSTILE_ADDRESSES } from '../support/hostile-addresses.ts'
import { newClinic, tableOfFile } from '../support/table.ts'

const db = tableOfFile()
let headers: Record<string, string>

beforeAll(async () => {
  stubFunctionEnvironment(db.name)
  headers = (await issueCredential(db.table, await newClinic(db.table))).headers
})

const post = async (route: string, body: object) =>
  call(await handlerOf({ id: route }), {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { ...headers, 'content-type': 'application/json' },
  })

const invalid = (field: string) => ({ status: 422, body: { error: 'VALIDATION', details: [{ field }] } })

it.each(HOSTILE_ADDRESSES)('POST /patients returns 422 for the email address %s', async (email_address) => {
  expect(await post('create-patient', { first_name: 'Ada', last_name: 'Kaya', email_address })).toMatchObject(
    invalid('email_address'),
  )
})

it.each(HOSTILE_ADDRESSES)(
  'PATCH /patients/{id} returns 422 for the email address %s',
  async (email_address) => {
    const path = { id: '6d0e2a7c-0000-4000-8000-000000000001' }
    const handler = await handlerOf({ id: 'update-patient' })
    const sent = { ...headers, 'content-type': 'application/json' }
    const body = JSON.stringify({ email_address })
    expect(await call(handler, { method: 'PATCH', path, headers: sent, body })).toMatchObject(
      invalid('email_address'),
    )
  },
)

describe.each([
  ['no visible character', '\u200b\u2060'],
  ['a directional override', 'Ada \u202eayaK'],
  ['a character in place of invalid bytes', 'M\ufffdller'],
])('text with %s', (_, text) => {
  it('returns 422 as a name', async () => {
    expect(await post('create-patient', { first_name: 'Ada', last_name: text })).toMatchObject(
      invalid('last_name'),
    )
  })

  it('returns 422 as a subject', async () => {
    const patient_id = '6d0e2a7c-0000-4000-8000-000000000001'
    const message = { channel: 'email', patient_id, message: 'See you at ten', subject: text }
    expect(await post('send-message', message)).toMatchObject(invalid('subject'))
  })
})

it('returns 422 for a message with a character in place of invalid bytes', async () => {
  const patient_id = '6d0e2a7c-0000-4000-8000-000000000001'
  expect(
    await post('send-message', { channel: 'sms', patient_id, message: 'Gr\ufffd\ufffde' }),
  ).toMatchObject(invalid('message'))
})
