/** Endpoints with the AWS client mocked: their calls to DynamoDB, and what they make of the responses. */
import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from 'vitest'
import { shortId } from '../../shared/store/keys/key.ts'
import { handlerOf, request, stubFunctionEnvironment } from '../support/functions.ts'
import { CLINIC, headers, mockClientWithCredential } from '../support/mocked-credential.ts'

const dynamodb = mockClientWithCredential('Asia/Kathmandu', 'NPR')
const PATIENT = '6d0e2a7c-0000-4000-8000-000000000002'
const stored = {
  f: 'Ada',
  l: 'Kaya',
  d: null,
  g: 'female',
  p: '+9779812345678',
  e: null,
  c: Date.parse('2026-05-01T07:00:00Z'),
}
const shown = {
  id: PATIENT,
  full_name: 'Ada Kaya',
  first_name: 'Ada',
  last_name: 'Kaya',
  date_of_birth: null,
  gender: 'female',
  phone_number: '+9779812345678',
  email_address: null,
  external_id: null,
  is_active: true,
  created_at: '2026-05-01T12:45:00+05:45',
  updated_at: '2026-05-01T12:45:00+05:45',
  erased_at: null,
}
describe('GET /patients/{id}', () => {
  it("returns the clinic's patient with times in the clinic's zone", async () => {
    dynamodb
      .on(GetCommand, {
        TableName: 'clinic-table',
        Key: { pk: `${shortId(CLINIC)}#P`, sk: PATIENT },
        ConsistentRead: true,
      })
      .resolves({ Item: { pk: 'x', sk: PATIENT, ...stored } })
    const response = await request('get-patient', { path: { id: PATIENT.toUpperCase() }, headers })
    expect(response).toMatchObject({ status: 200, body: { data: shown } })
  })

  const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' })

  it('returns 503 and logs the cause when DynamoDB throttles while the credential is read', async () => {
    dynamodb.on(GetCommand).rejects(throttled)
    const response = await request('get-patient', { path: { id: PATIENT }, headers })
    expect(response).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { error: 'UNAVAILABLE', message: 'errors.developer_api.unavailable' },
    })
    expect(JSON.parse(response.logged)).toMatchObject({
      error: 'unavailable',
      origin: { name: 'ThrottlingException' },
    })
  })

  it('returns 500 and logs nothing of the patient when the stored item is damaged', async () => {
    dynamodb
      .on(GetCommand, { Key: { pk: `${shortId(CLINIC)}#P`, sk: PATIENT } })
      .resolves({ Item: { sk: PATIENT, ...stored, d: 'Ada' } })
    const response = await request('get-patient', { path: { id: PATIENT }, headers })
    expect(response.status).toBe(500)
    expect(response.logged).not.toMatch(new RegExp(`Ada|Kaya|9779812345678|${PATIENT}`))
  })
})

it('the start of an endpoint reads the table once, and succeeds even if that fails', async () => {
  dynamodb.on(GetCommand).rejects(new Error('unknown'))
  const { prepare } = (await handlerOf({ id: 'get-patient' })) as { prepare: () => Promise<unknown> }
  await prepare()
  expect(dynamodb.calls()).toHaveLength(1)
})

it.each(['many', '0', ''])(
  'the environment fails to load with an invalid variable, and names it: "%s"',
  async (value) => {
    const { readEnvironment } = await import('../../shared/runtime/environment.ts')
    stubFunctionEnvironment('clinic-table', { REQUESTS_PER_MINUTE: value })
    expect(readEnvironment).toThrow('REQUESTS_PER_MINUTE')
  },
)
