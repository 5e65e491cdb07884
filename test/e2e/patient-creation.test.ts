/** Creating patients over HTTP: what is stored, and how invalid fields and bodies are rejected. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../shared/domain/uuid.ts'
import { issueCredential } from '../support/credentials.ts'
import { get, post, type RunningStack, runStack } from '../support/local-stack.ts'
import { newClinic } from '../support/table.ts'

let stack: RunningStack
let pair: string

beforeAll(async () => {
  stack = await runStack({ demo: false })
  const { key, secret } = await issueCredential(stack.table, await newClinic(stack.table))
  pair = `${key}:${secret}`
})
afterAll(() => stack.close())

describe('POST /patients', () => {
  it('creates a patient that search finds at once', async () => {
    const answer = await post(
      stack,
      '/patients',
      {
        first_name: ' Işıl ',
        last_name: 'Großmann',
        phone_number: '+905321234567',
        email_address: 'isil@example.com',
        gender: 'female',
        date_of_birth: '1990-02-28',
      },
      { pair },
    )
    expect(answer).toMatchObject({
      status: 201,
      body: { data: { full_name: 'Işıl Großmann', phone_number: '+905321234567' } },
    })
    expect(answer.headers.location).toBe(`/api/developer/v1/patients/${answer.body.data.id}`)
    const { national_id: _, notes: __, ...listed } = answer.body.data
    expect((await get(stack, '/patients?search=isil%20grossmann', pair)).body.data).toEqual([listed])
    expect((await get(stack, `/patients/${answer.body.data.id}`, pair)).body).toEqual(answer.body)
    expect((await get(stack, '/patients?limit=1', pair)).body.data).toEqual([listed])
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['no first name', { first_name: undefined }, 'first_name'],
    ['null', { last_name: null }, 'last_name'],
    ['a number', { first_name: 7 }, 'first_name'],
    ['a list', { first_name: ['Ada'] }, 'first_name'],
    ['only spaces', { first_name: '  ' }, 'first_name'],
    ['101 characters', { last_name: 'x'.repeat(101) }, 'last_name'],
    ['a control character', { first_name: 'A\u0007da' }, 'first_name'],
    ['NUL', { first_name: 'A\u0000' }, 'first_name'],
    ['a date of birth in the future', { date_of_birth: '2999-01-01' }, 'date_of_birth'],
    ['a date that does not exist', { date_of_birth: '2001-02-29' }, 'date_of_birth'],
    ['another gender', { gender: 'm' }, 'gender'],
    ['"123"', { phone_number: '123' }, 'phone_number'],
    ['"+90 000"', { phone_number: '+90 000' }, 'phone_number'],
    ['an unassigned number', { phone_number: '+901111111111' }, 'phone_number'],
    ['an extension', { phone_number: '+4930901820;ext=12' }, 'phone_number'],
    ['a malformed address', { email_address: 'ada@' }, 'email_address'],
    ['an address too long', { email_address: `${'a'.repeat(250)}@x.org` }, 'email_address'],
    ['a clinic id', { clinic_id: newUuid() }, 'clinic_id'],
    ['an id', { id: newUuid() }, 'id'],
    ['a time of creation', { created_at: '2026-01-01T00:00:00Z' }, 'created_at'],
  ])('returns 422 naming the field for %s, and stores nothing', async (_, wrong, field) => {
    const before = (await get(stack, '/patients', pair)).body.meta.total
    const { status, body } = await post(
      stack,
      '/patients',
      { first_name: 'Ada', last_name: 'Kern', ...wrong },
      { pair },
    )
    expect([status, body.error, body.message, body.details]).toEqual([
      422,
      'VALIDATION',
      'errors.developer_api.validation',
      [{ field, issue: expect.any(String) }],
    ])
    expect((await get(stack, '/patients', pair)).body.meta.total).toBe(before)
  })
})

describe('a request body', () => {
  it.each<[string, string, Record<string, string>, number, string]>([
    ['that is not JSON', '{"first_name":', {}, 400, 'malformed_json'],
    ['that is empty', '', {}, 400, 'malformed_json'],
    ['that is a list', '[]', {}, 422, 'validation'],
    ['that is null', 'null', {}, 422, 'validation'],
    ['that is text', '"x"', {}, 422, 'validation'],
    ['with __proto__', '{"first_name":"A","last_name":"B","__proto__":{"x":1}}', {}, 422, 'validation'],
    ['of another type', '{}', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['of a similar type', '{}', { 'content-type': 'application/jsonp' }, 415, 'unsupported_media_type'],
    ['of 1 MB', JSON.stringify({ first_name: 'x'.repeat(1_000_000) }), {}, 413, 'payload_too_large'],
    [
      'nested 10,000 deep',
      `{"first_name":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      {},
      422,
      'validation',
    ],
  ])('%s gets its own error', async (_, text, headers, status, key) => {
    const answer = await post(stack, '/patients', text, { pair, headers })
    expect([answer.status, answer.body.message]).toEqual([status, `errors.developer_api.${key}`])
  })

  it('is accepted with a charset in the content type', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' }
    expect((await post(stack, '/patients', '{}', { pair, headers })).status).toBe(422)
  })
})
