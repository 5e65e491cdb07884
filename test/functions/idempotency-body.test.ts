import { beforeAll, expect, it } from 'vitest'
import { issueCredential } from '../support/credentials.ts'
import { call } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { newClinic, tableOfFile } from '../support/table.ts'

const db = tableOfFile()
let headers: Record<string, string>

beforeAll(async () => {
  stubFunctionEnvironment(db.name)
  headers = (await issueCredential(db.table, await newClinic(db.table))).headers
})

const createPatient = async (body: string) =>
  call(await handlerOf({ id: 'create-patient' }), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': 'k' },
    body,
  })

it('compares bodies byte by byte: the same JSON with other white space is another body', async () => {
  const body = '{"first_name":"Ada","last_name":"Kaya"}'
  const { status, text } = await createPatient(body)
  expect(status).toBe(201)
  expect(await createPatient(body)).toMatchObject({
    status: 201,
    text,
    headers: { 'idempotent-replayed': 'true' },
  })
  expect(await createPatient(body.replace(',', ', '))).toMatchObject({
    status: 422,
    body: { message: 'errors.developer_api.idempotency_key_reused' },
  })
})
