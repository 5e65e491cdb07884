/** The `etag` of records, and what `if-none-match` and `if-match` make of it. */
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { ErrorKey } from '../../../shared/api/error-catalogue.ts'
import { acceptsIfMatch, type Route, retrievesRecord } from '../../../shared/api/route.ts'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { issueCredential } from '../../support/credentials.ts'
import { createWebhook } from '../../support/deliveries.ts'
import { call } from '../../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../../support/functions.ts'
import { createPopulatedClinic, createRecord, type PopulatedClinic } from '../../support/records.ts'
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
  for (const id of open) await createRecord(db.table, clinic, appointmentStore(db), { ...appointment, id })
  ids.patient_not_found = patient.id
  ids.doctor_not_found = doctor.id
  ids.treatment_not_found = treatment.id
  ids.appointment_not_found = appointment.id
  ids.invoice_not_found = invoice.id
  ids.payment_not_found = payment.id
  ids.message_not_found = message.id
  ids.webhook_not_found = (await createWebhook(db.table, clinic.id)).id
})

/** Appointments that can still be closed. */
const open = Array.from({ length: 3 }, newUuid)

const ownPath = (route: Route): Record<string, string> =>
  /^(cancel|complete|no-show)-appointment$/.test(route.id) ? { id: open.pop() ?? '' } : recordPath(route)

const recordPath = (route: Route): Record<string, string> =>
  Object.fromEntries(
    Object.entries(route.params ?? {}).map(([name, notFound]) => [name, ids[notFound] ?? '']),
  )

async function ask(route: Route, ifNoneMatch?: string | string[]) {
  const path = ownPath(route)
  const sent = { ...headers, ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }) }
  return call(await handlerOf(route), { method: route.method, path, headers: sent })
}

const named = (routes: readonly Route[]) => routes.map((route) => [route.id, route] as const)

describe.each(named(ENDPOINTS.filter(retrievesRecord)))('%s', (_, route) => {
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
  const route = ENDPOINTS.find(({ id }) => id === 'get-patient') as Route
  const before = await ask(route)
  await patientChanges(db.table).update(records.clinic.id, records.patient.id, { lastName: 'Changed' })
  const after = await ask(route, String(before.headers.etag))
  expect([after.status, after.body.data.last_name]).toEqual([200, 'Changed'])
  expect(after.headers.etag).not.toBe(before.headers.etag)
})

it('an unknown record is a 404, whatever the request has in if-none-match', async () => {
  const route = ENDPOINTS.find(({ id }) => id === 'get-patient') as Route
  const input = { path: { id: records.invoice.id }, headers: { ...headers, 'if-none-match': '*' } }
  const { status, headers: sent } = await call(await handlerOf(route), input)
  expect([status, sent.etag]).toEqual([404, undefined])
})

it('lists, free slots and the health of the API have none', () => {
  const without = ENDPOINTS.filter((route) => route.method === 'GET' && !retrievesRecord(route)).map(
    ({ id }) => id,
  )
  expect(without.filter((id) => !id.startsWith('list-'))).toEqual(['get-health', 'get-availability'])
})

/** What a change of each kind is: a valid body, and another one. */
const CHANGES: Record<string, [object, object]> = {
  'update-patient': [{ notes: 'one', gender: null }, { notes: 'two' }],
  'update-webhook': [{ description: 'one' }, { description: 'two' }],
  'update-appointment': [{ notes: 'one' }, { notes: 'two' }],
}

/** Further fields, with which a change differs from every other. */
const SECOND_CHANGE: Record<string, object> = {
  'update-patient': { notes: 'three' },
  'update-webhook': { description: 'three' },
  'update-appointment': { notes: 'three' },
}

/** A valid body of each POST that returns a whole record. */
const bodyOf = (route: Route): object =>
  ({
    'create-patient': { first_name: 'Ada', last_name: 'Kaya' },
    'create-appointment': {
      patient_id: records.patient.id,
      doctor_id: records.doctor.id,
      appointment_date: '2030-01-07',
      start_time: '09:00',
    },
    'create-webhook': { url: 'https://example.com/', events: ['patient.created'] },
  })[route.id] ?? {}

/** Sends a request that changes something. */
async function send(
  route: Route,
  body: object,
  more: Record<string, string | string[]> = {},
  path = ownPath(route),
) {
  const sent = { ...headers, 'content-type': 'application/json', ...more }
  return call(await handlerOf(route), {
    method: route.method,
    path,
    headers: sent,
    body: JSON.stringify(body),
  })
}

/** The route that retrieves the records which another route changes or creates: of the same error for an unknown id. */
const retrievalOf = ({ path, response }: Route): Route => {
  const record = (response.location ?? path).split('/')[1]
  return ENDPOINTS.find((route) => retrievesRecord(route) && route.path === `/${record}/{id}`) as Route
}

const schemaName = ({ response }: Route): unknown =>
  (response.body as z.ZodObject).shape?.data instanceof z.ZodObject
    ? ((response.body as z.ZodObject).shape.data as z.ZodObject).meta()?.id
    : undefined

const RETURNS_RECORD = ENDPOINTS.filter(({ response }) => response.record !== undefined)

describe.each(named(RETURNS_RECORD))('%s', (_, route) => {
  it('returns the etag with which GET returns the record', async () => {
    const changed = await send(route, CHANGES[route.id]?.[0] ?? bodyOf(route))
    expect([changed.status, changed.headers.etag]).toEqual([
      route.response.status,
      expect.stringMatching(/^"[\w-]{43}"$/),
    ])
    const retrieval = await handlerOf(retrievalOf(route))
    const read = await call(retrieval, { path: { id: changed.body.data.id }, headers })
    expect([read.status, read.headers.etag]).toEqual([200, changed.headers.etag])
  })
})

it('every change that returns what GET of the record returns declares so', () => {
  const retrieved = new Set(ENDPOINTS.filter(retrievesRecord).map(schemaName))
  const changes = ENDPOINTS.filter((route) => route.method !== 'GET' && retrieved.has(schemaName(route)))
  expect(changes.filter(({ response }) => !response.record).map(({ id }) => id)).toEqual([])
})

describe.each(named(ENDPOINTS.filter(acceptsIfMatch)))('%s with if-match', (_, route) => {
  const [one, other] = CHANGES[route.id] ?? [{}, {}]
  const current = async () => String((await ask(retrievalOf(route))).headers.etag)
  const etagAfter = async (body: object) => String((await send(route, body)).headers.etag)

  it('changes the record only if it is in the state that the etag names', async () => {
    const [before, now] = [await etagAfter(one), await etagAfter(other)]
    expect(now).not.toBe(before)
    for (const stale of [before, `W/${now}`, `"other", ${before}`, [before, '"a,b"'], '"*"']) {
      const { status, body, headers } = await send(route, one, { 'If-Match': stale })
      expect([stale, status, body, headers.etag]).toEqual([
        stale,
        412,
        { error: 'PRECONDITION_FAILED', message: 'errors.developer_api.precondition_failed' },
        undefined,
      ])
    }
    expect(await current()).toBe(now)
    for (const [fresh, change] of [
      [now, one],
      [[before, `"a,b" ,, ${now}`], one],
      ['*', other],
    ] as const) {
      const known =
        typeof fresh === 'string' ? fresh.replace(now, await current()) : [...fresh, await current()]
      expect([known, (await send(route, change, { 'if-match': known })).status]).toEqual([known, 200])
    }
  })

  it.each(['', 'abc', '"open', '*, "a"', '"a" "b"', 'w/"a"', '"a"b"', ','])(
    'returns 400 for %j',
    async (malformed) => {
      const { status, body } = await send(route, one, { 'if-match': malformed })
      expect([status, body.message, body.details.map(({ field }: { field: string }) => field)]).toEqual([
        400,
        'errors.developer_api.invalid_params',
        ['if-match'],
      ])
    },
  )

  it('returns 404 for an unknown record, and the stored response to a repetition', async () => {
    const unknown = Object.fromEntries(Object.keys(route.params ?? {}).map((name) => [name, newUuid()]))
    expect((await send(route, one, { 'if-match': '*' }, unknown)).status).toBe(404)
    await send(route, other)
    const conditional = { 'if-match': await current(), 'idempotency-key': newUuid() }
    const first = await send(route, one, conditional)
    const again = await send(route, one, conditional)
    expect([
      first.status,
      again.status,
      again.text,
      again.headers.etag,
      again.headers['idempotent-replayed'],
    ]).toEqual([200, 200, first.text, first.headers.etag, 'true'])
    expect((await send(route, one, { ...conditional, 'idempotency-key': newUuid() })).status).toBe(412)
  })

  it('of two changes with the same etag at the same time makes one', async () => {
    const etag = await etagAfter(one)
    const bodies = [other, { ...other, ...SECOND_CHANGE[route.id] }]
    const answers = await Promise.all(bodies.map((body) => send(route, body, { 'if-match': etag })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
  })

  it('returns the same bytes to a repetition of a change that changes nothing', async () => {
    await send(route, one)
    const key = { 'idempotency-key': newUuid() }
    const first = await send(route, {}, key)
    await send(route, other)
    const again = await send(route, {}, key)
    expect([first.status, again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      200,
      200,
      first.text,
      'true',
    ])
  })
})
