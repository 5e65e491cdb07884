/** The `etag` of records, and what `if-none-match` makes of it. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { ErrorKey } from '../../../shared/api/error-catalogue.ts'
import { hasEtag, type Route } from '../../../shared/api/route.ts'
import { ROUTES } from '../../../shared/api/routes.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { issueCredential } from '../../support/credentials.ts'
import { createWebhook } from '../../support/deliveries.ts'
import { call } from '../../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../../support/functions.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../support/records.ts'
import { freshTable, type TestTable } from '../../support/table.ts'

let db: TestTable
let records: PopulatedClinic
let headers: Record<string, string>
const ids: Partial<Record<ErrorKey, string>> = {}

beforeAll(async () => {
  db = await freshTable()
  stubFunctionEnvironment(db.name)
  records = await createPopulatedClinic(db.table)
  headers = (await issueCredential(db.table, records.clinic)).headers
  const { patient, doctor, treatment, appointment, invoice, payment, message, clinic } = records
  ids.patient_not_found = patient.id
  ids.doctor_not_found = doctor.id
  ids.treatment_not_found = treatment.id
  ids.appointment_not_found = appointment.id
  ids.invoice_not_found = invoice.id
  ids.payment_not_found = payment.id
  ids.message_not_found = message.id
  ids.webhook_not_found = (await createWebhook(db.table, clinic.id)).id
})

async function ask(route: Route, ifNoneMatch?: string | string[]) {
  const path = Object.fromEntries(
    Object.entries(route.params ?? {}).map(([name, notFound]) => [name, ids[notFound] ?? '']),
  )
  const sent = { ...headers, ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }) }
  return call(await handlerOf(route), { method: route.method, path, headers: sent })
}

const named = (routes: readonly Route[]) => routes.map((route) => [route.id, route] as const)

describe.each(named(ROUTES.filter(hasEtag)))('%s', (_, route) => {
  it('returns a strong etag, and a 304 without a body to a request that has it', async () => {
    const first = await ask(route)
    expect([first.status, first.headers.etag]).toEqual([200, expect.stringMatching(/^"[\w-]{43}"$/)])
    const etag = String(first.headers.etag)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, ['"other"', etag], '*']) {
      const { status, text, headers } = await ask(route, known)
      expect([known, status, text]).toEqual([known, 304, ''])
      expect(headers).toMatchObject({ etag, 'cache-control': 'no-store', 'x-request-id': 'request-1' })
      expect(headers).not.toHaveProperty('content-type')
    }
    for (const other of ['"other"', etag.slice(1, -1), '']) {
      const { status, text } = await ask(route, other)
      expect([other, status, text]).toEqual([other, 200, first.text])
    }
  })

  it('writes the records of a 304 into the access trail', async () => {
    const [full, unchanged] = [await ask(route), await ask(route, '*')]
    expect(unchanged.accesses).toEqual([{ ...full.accesses[0], outcome: 304, timestamp: expect.any(String) }])
  })
})

it('a record that was changed has another etag', async () => {
  const route = ROUTES.find(({ id }) => id === 'get-patient') as Route
  const before = await ask(route)
  await patientChanges(db.table).update(records.clinic.id, records.patient.id, { lastName: 'Changed' })
  const after = await ask(route, String(before.headers.etag))
  expect([after.status, after.body.data.last_name]).toEqual([200, 'Changed'])
  expect(after.headers.etag).not.toBe(before.headers.etag)
})

it('an unknown record is a 404, whatever the request has in if-none-match', async () => {
  const route = ROUTES.find(({ id }) => id === 'get-patient') as Route
  const input = { path: { id: records.invoice.id }, headers: { ...headers, 'if-none-match': '*' } }
  const { status, headers: sent } = await call(await handlerOf(route), input)
  expect([status, sent.etag]).toEqual([404, undefined])
})

it('lists, free slots and the health of the API have none', () => {
  const without = ROUTES.filter((route) => route.method === 'GET' && !hasEtag(route)).map(({ id }) => id)
  expect(without.filter((id) => !id.startsWith('list-'))).toEqual(['get-health', 'get-availability'])
})
