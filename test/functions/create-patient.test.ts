/** POST /patients with a fixed clock and fixed ids. */
import { beforeAll, expect, it, vi } from 'vitest'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, stubFunctionEnvironment } from '../support/functions.ts'
import { freshTable, newClinic } from '../support/table.ts'

const NOW = Date.parse('2031-03-01T21:30:00.250Z')
const ID = '0b5a1f9e-7c7a-4c57-8f0f-2f2f6a1c9d11'

vi.mock(import('../../shared/runtime/system.ts'), () => ({ now: () => NOW, newId: () => ID }))

let clinic: Clinic
let headers: Record<string, string>

beforeAll(async () => {
  const db = await freshTable()
  stubFunctionEnvironment(db.name)
  clinic = await newClinic(db.table, { timezone: 'Europe/Istanbul' })
  headers = (await issueCredential(db.table, clinic)).headers
})

const create = async (fields: object) =>
  request('create-patient', { body: { first_name: 'Ada', last_name: 'Kaya', ...fields }, headers })

it('returns 422 when the date of birth is after the clinic-local day', async () => {
  expect(await create({ date_of_birth: '2031-03-03' })).toMatchObject({
    status: 422,
    body: { details: [{ field: 'date_of_birth', issue: 'must not be in the future' }] },
  })
})

it('takes the id and the time of creation from the platform, and stores the domain of an address in Unicode', async () => {
  const response = await create({ date_of_birth: '2031-03-02', email_address: 'Ada@XN--BCHER-KVA.example' })
  expect(response).toMatchObject({
    status: 201,
    body: {
      data: {
        id: ID,
        date_of_birth: '2031-03-02',
        email_address: 'Ada@bücher.example',
        created_at: '2031-03-02T00:30:00+03:00',
      },
    },
  })
  expect(response.headers.location).toBe(`/api/developer/v1/patients/${ID}`)
  expect(JSON.parse(response.logged)).toMatchObject({ timestamp: '2031-03-01T21:30:00.250Z', duration_ms: 0 })
})
