/** Records of a clinic's own system by POST /sync. */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { SYNC_ENTITIES } from '../../shared/api/sync.ts'
import { SCOPES, type Scope } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { doctorDayKey, takenNumberKey } from '../../shared/store/keys/calendar.ts'
import { doctorKey } from '../../shared/store/keys/clinics.ts'
import { RESPONSE_TTL_SECONDS } from '../../shared/store/table/idempotency.ts'
import { issueCredential } from '../support/credentials.ts'
import { call, lambdaContext } from '../support/event.ts'
import { handlerOf, request } from '../support/functions.ts'
import { realisticTableOfFunctions } from '../support/realistic-table.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'

const { db, dynamodb } = realisticTableOfFunctions()
let mine: PopulatedClinic
let headers: Record<string, string>

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
  headers = (await issueCredential(db.table, mine.clinic)).headers
})

const withScopes = async (...scopes: Scope[]) =>
  (await issueCredential(db.table, mine.clinic, scopes)).headers
const send = (body: object, by = headers) => request('sync-records', { headers: by, body })
const sync = async (entity: string, records: readonly object[], more: object = {}) => {
  const { status, body } = await send({ entity, records, ...more })
  expect(status).toBe(200)
  return body.data
}
/** What became of each record: its outcome, or its issues. */
const outcomes = async (entity: string, records: readonly object[], more: object = {}) =>
  (await sync(entity, records, more)).map(({ outcome, issues }: { outcome: string; issues: object[] }) =>
    outcome === 'rejected' ? issues : outcome,
  )
const rejected = (field: string, issue: unknown) => [{ field, issue }]
const taken = rejected('start_time', 'slot_unavailable')
const repeated = rejected('external_id', 'is already used in records.0')
const count = async (id: string) => (await request(id, { headers })).body.meta.total

const ada = { external_id: 'P-1', first_name: 'Ada', last_name: 'Kaya', date_of_birth: '1984-03-12' }
const grace = { ...ada, external_id: 'P-2', first_name: 'Grace', last_name: 'Lind' }
const visit = (start_time = '09:00', end_time = '09:30', external_id = 'A-1') => ({
  ...{ external_id, patient_external_id: 'P-1', doctor_id: mine.doctor.id },
  ...{ appointment_date: '2198-06-04', start_time, end_time },
})
const payment = (external_id: string, type: string) => ({
  ...{ external_id, type, invoice_id: mine.invoice.id, amount: 5 },
  ...{ payment_method: 'cash', payment_date: '2026-01-02' },
})

describe('POST /sync', () => {
  it('creates, keeps and changes records by their external ids, and counts the outcomes', async () => {
    const { body } = await send({ entity: 'patients', records: [ada, grace] })
    const found = { issues: [], warnings: [] }
    const created = { external_id: 'P-1', id: expect.any(String), outcome: 'created', ...found }
    expect(body).toEqual({
      data: [created, { ...created, external_id: 'P-2' }],
      meta: { created: 2, updated: 0, unchanged: 0, rejected: 0 },
    })
    const again = await send({ entity: 'patients', records: [ada, { ...grace, first_name: ' Grace B. ' }] })
    expect(again.body.meta).toEqual({ created: 0, updated: 1, unchanged: 1, rejected: 0 })
    expect([0, 1].map((at) => again.body.data[at].id)).toEqual([0, 1].map((at) => body.data[at].id))
  })

  it('announces what it writes, with its source and the request', async () => {
    const { headers: sent } = await send({ entity: 'patients', records: [ada] })
    const fanOut = eventFanOut({ table: db.table, now: Date.now, newId: newUuid })
    await fanOut.fanOut(mine.clinic.id, async () => {})
    const { body } = await request('list-events', {
      headers,
      query: { event: 'patient.created', limit: '100' },
    })
    expect(body.data.at(-1)).toMatchObject({ source: 'sync', request_id: sent['x-request-id'] })
  })

  it('rejects each invalid record alone, with fields and rules', async () => {
    const invalid = { ...grace, gender: 'none', first_nam: 'x', date_of_birth: '12.3.1984' }
    expect(await outcomes('patients', [invalid, { first_name: 'No', last_name: 'Id' }, ada])).toEqual([
      [
        { field: 'gender', issue: 'must be one of male, female, other, unknown' },
        { field: 'date_of_birth', issue: 'is not YYYY-MM-DD (31.12.1974 would be 1974-12-31)' },
        { field: 'first_nam', issue: 'is not a known field (did you mean first_name?)' },
      ],
      rejected('external_id', 'is required'),
      'created',
    ])
    const unknown = { ...visit(), patient_external_id: 'P-9' }
    expect(await outcomes('appointments', [unknown])).toEqual([
      rejected('patient_external_id', expect.stringMatching(/^is unknown/)),
    ])
  })

  it('rejects a record that an earlier one of the request is, and warns of the same person twice', async () => {
    const namesake = { ...ada, external_id: 'P-3' }
    const [first, second, third] = await sync('patients', [ada, { ...ada, first_name: 'Ida' }, namesake])
    expect([first.outcome, second.issues, third.outcome]).toEqual(['created', repeated, 'created'])
    const warning = 'first_name, last_name and date_of_birth are already used in records.0'
    expect(third.warnings).toEqual([{ field: 'external_id', issue: warning }])
    const [later] = await sync('patients', [{ ...ada, external_id: 'P-4' }])
    expect(later.warnings).toEqual(
      rejected('external_id', expect.stringMatching(/match another patient of the clinic$/)),
    )
  })

  it('writes a refund that comes before its payment', async () => {
    const records = [payment('R', 'refund'), payment('Y', 'payment')]
    expect(await outcomes('payments', records)).toEqual(['created', 'created'])
  })

  it.each([
    ['an unknown entity', { entity: 'patient', records: [ada] }, 'entity'],
    ['no record', { entity: 'patients', records: [] }, 'records'],
    ['more than 50', { entity: 'patients', records: Array(51).fill(ada) }, 'records'],
    ['a record that is none', { entity: 'patients', records: [ada, 'x'] }, 'records.1'],
    ['another field', { entity: 'patients', records: [ada], events: true }, 'events'],
  ])('returns 422 for %s, and writes nothing', async (_, body, field) => {
    const before = await count('list-patients')
    const { status, body: error } = await send(body)
    expect([status, error.details[0].field]).toEqual([422, field])
    expect(await count('list-patients')).toBe(before)
  })

  it.each(Object.entries(SYNC_ENTITIES))('of %s needs %s besides sync.write', async (entity, scope) => {
    const records = [{ external_id: 'x', unknown: true }]
    const others = SCOPES.filter((one) => one !== scope)
    const { status, body } = await send({ entity, records }, await withScopes(...others))
    expect([status, body.details]).toEqual(scope ? [403, [{ scope }]] : [200, undefined])
    const enough = await withScopes('sync.write', ...(scope ? [scope] : []))
    expect((await send({ entity, records }, enough)).status).toBe(200)
  })
})

describe('what was changed here', () => {
  it('is a conflict, unless it is overwritten', async () => {
    const [{ id }] = await sync('patients', [ada])
    const change = { headers, path: { id }, body: { phone_number: '+905321234567' } }
    await request('update-patient', change)
    const moved = { ...ada, phone_number: '+905327654321' }
    expect(await outcomes('patients', [moved])).toEqual([rejected('phone_number', 'conflict')])
    expect(await outcomes('patients', [moved], { overwrite: true })).toEqual(['updated'])
  })

  it('is not a conflict if the record sent is the one that was sent last', async () => {
    const [{ id }] = await sync('patients', [ada])
    await request('update-patient', { headers, path: { id }, body: { notes: 'Called' } })
    expect(await outcomes('patients', [ada])).toEqual(['unchanged'])
  })

  it('and erased is never written again', async () => {
    const [{ id }] = await sync('patients', [ada])
    await patientChanges(db.table).erase(mine.clinic.id, id)
    expect(await outcomes('patients', [ada], { overwrite: true })).toEqual([
      rejected('external_id', 'erased'),
    ])
  })
})

describe('an appointment onto time that is held', () => {
  const held = () => ({ doctor_id: mine.doctor.id, appointment_date: '2031-01-06', start_time: '09:00' })
  const hold = async () => (await request('create-hold', { headers, body: held() })).body.data.id
  const book = (hold_id: string) =>
    request('create-appointment', { headers, body: { patient_id: mine.patient.id, hold_id } })
  const onHold = () => ({ ...visit(), ...held() })
  beforeEach(async () => void (await sync('patients', [ada])))

  it('is rejected, unless overlaps are allowed: then the hold cannot be booked', async () => {
    const id = await hold()
    expect(await outcomes('appointments', [onHold()])).toEqual([taken])
    expect(await outcomes('appointments', [onHold()], { allow_overlaps: true })).toEqual(['created'])
    const { status, body } = await book(id)
    expect([status, body.error, body.details.length]).toEqual([409, 'SLOT_UNAVAILABLE', 3])
  })

  it.each([false, true])(
    'and is booked meanwhile leaves the booking, with overlaps allowed: %s',
    async (allow) => {
      const id = await hold()
      const booking = dynamodb.faults.next({ operation: 'TransactWriteItems', kind: 'held' })
      const booked = book(id)
      await booking.reached
      const synced = outcomes('appointments', [onHold()], { allow_overlaps: allow })
      booking.release()
      expect([(await booked).status, await synced]).toEqual([201, [allow ? 'created' : taken]])
    },
  )

  it('is created when the hold has expired, which then leaves the day', async () => {
    vi.useFakeTimers({ now: Date.now() - 600_000, toFake: ['Date'] })
    const id = await hold()
    vi.useRealTimers()
    expect(await outcomes('appointments', [onHold()])).toEqual(['created'])
    expect((await book(id)).body.error).toBe('HOLD_EXPIRED')
    const day = doctorDayKey(mine.clinic.id, mine.doctor.id, '2031-01-06')
    expect(await db.table.get(day)).not.toHaveProperty('holds')
  })
})

it('closes the days of a holiday at once', async () => {
  expect(await outcomes('holidays', [{ external_id: 'H-1', from: '2031-01-06' }])).toEqual(['created'])
  const query = { doctor_id: mine.doctor.id, date: '2031-01-06' }
  expect((await request('get-availability', { headers, query })).body.data).toEqual([])
})

it('stores its response before it closes the days of a holiday', async () => {
  const { pk, sk } = doctorKey(mine.clinic.id, mine.doctor.id)
  const refresh = dynamodb.faults.next({
    operation: 'TransactWriteItems',
    kind: 'held',
    keyPrefix: `${pk}|${sk}`,
  })
  const records = [{ external_id: 'H-1', from: '2031-01-06' }]
  const sent = () => send({ entity: 'holidays', records }, { ...headers, 'idempotency-key': 'once' })
  const first = sent()
  await refresh.reached
  expect((await sent()).body.meta).toMatchObject({ created: 1 })
  refresh.release()
  expect((await first).body.meta).toMatchObject({ created: 1 })
})

it('names no other patient, and warns of no record that is rejected', async () => {
  const [{ id }] = await sync('patients', [ada])
  const [same] = await sync('patients', [{ ...ada, external_id: 'P-2' }])
  expect(same.warnings).toHaveLength(1)
  expect(JSON.stringify(same)).not.toContain(id)
  const [early] = await sync('appointments', [{ ...visit('03:00', '03:30'), status: 'completed' }])
  expect(early).toMatchObject({ outcome: 'rejected', warnings: [] })
})

describe('an external id', () => {
  it('is set and confirmed by a record with both ids, so that it needs no operator', async () => {
    const by = await withScopes('patient.write', 'patient.read')
    const booked = { first_name: 'Ada', last_name: 'Kaya', external_id: 'portal-7' }
    const { body } = await request('create-patient', { headers: by, body: booked })
    const { id } = body.data
    const known = { first_name: 'Ada', last_name: 'Kaya', external_id: 'portal-7' }
    expect(await outcomes('patients', [{ ...known, last_name: 'Kaya B.' }])).toEqual([
      rejected('external_id', 'linked_by_api'),
    ])
    const [linked] = await sync('patients', [{ ...known, id, external_id: 'P-1' }])
    expect(linked).toMatchObject({ external_id: 'P-1', id, outcome: 'updated' })
    expect(await outcomes('patients', [{ ...known, external_id: 'P-1' }])).toEqual(['unchanged'])
    const [again] = await sync('patients', [{ ...known, id, external_id: 'P-1' }])
    expect(again).toMatchObject({ id, outcome: 'unchanged' })
  })

  it('of another record, or another one than a confirmed one, is rejected, and nothing is written', async () => {
    const [first, second] = await sync('patients', [ada, grace])
    const taken = { ...grace, id: second.id, external_id: 'P-1', notes: 'x' }
    const changed = { ...ada, id: first.id, external_id: 'P-3', notes: 'x' }
    expect(await outcomes('patients', [taken, changed])).toEqual([
      rejected('external_id', 'external_id_taken'),
      rejected('external_id', 'conflict'),
    ])
    expect(await outcomes('patients', [ada, grace])).toEqual(['unchanged', 'unchanged'])
  })

  it('that two requests give a record at once is the one of the first, and the other is a conflict', async () => {
    const { id } = (
      await request('create-patient', { headers, body: { first_name: 'Ada', last_name: 'Kaya' } })
    ).body.data
    const linking = (external_id: string) => outcomes('patients', [{ ...ada, id, external_id }])
    const both = await Promise.all([linking('P-1'), linking('P-2')])
    expect(both).toEqual(expect.arrayContaining([['updated'], [rejected('id', 'unavailable')]]))
    const again = [await linking('P-1'), await linking('P-2')]
    expect(again).toEqual(expect.arrayContaining([['unchanged'], [rejected('external_id', 'conflict')]]))
  })

  it('of a patient who is erased meanwhile is not reported as given', async () => {
    const { external_id: _, ...body } = ada
    const { id } = (await request('create-patient', { headers, body })).body.data
    const written = dynamodb.faults.next({
      operation: 'TransactWriteItems',
      kind: 'held',
      point: 'after-commit',
    })
    const linking = outcomes('patients', [{ ...ada, id }])
    await written.reached
    await patientChanges(db.table).erase(mine.clinic.id, id)
    written.release()
    expect(await linking).toEqual([rejected('id', 'unavailable')])
    expect(await outcomes('patients', [{ ...ada, id }])).toEqual([rejected('id', 'erased')])
  })

  it('is the same in each form of Unicode', async () => {
    const body = { ...ada, external_id: 'Mu\u0308ller-1' }
    const { id } = (await request('create-patient', { headers, body })).body.data
    expect(await outcomes('patients', [{ ...body, id }])).toEqual(['unchanged'])
  })

  it('that is not valid is named, also next to an id', async () => {
    const long = { ...ada, id: mine.patient.id, external_id: 'x'.repeat(101) }
    expect(await outcomes('patients', [long])).toEqual([
      rejected('external_id', expect.stringContaining('1 to 100')),
    ])
  })

  it('that was replaced is no reference to its record any more', async () => {
    const [{ id }] = await sync('patients', [ada])
    await sync('patients', [{ ...ada, id, external_id: 'P-9' }], { overwrite: true })
    const of = (patient_external_id: string) => ({ ...visit(), patient_external_id })
    const linked = rejected('patient_external_id', 'linked_by_api')
    expect(await outcomes('appointments', [of('P-1')])).toEqual([linked])
    expect(await outcomes('appointments', [of('P-9')])).toEqual(['created'])
  })

  it('belongs to one record of a request, whether that has it or gets it', async () => {
    const body = { first_name: 'Ada', last_name: 'Kaya' }
    const { id } = (await request('create-patient', { headers, body })).body.data
    expect(await outcomes('patients', [{ ...ada, id }, ada])).toEqual(['updated', repeated])
    const other = rejected('id', 'is already used in records.0')
    expect(await outcomes('patients', [ada, { ...ada, id: mine.patient.id }])).toEqual(['unchanged', other])
  })

  it('of a kind without links cannot change', async () => {
    const room = { external_id: 'R-1', name: 'Room' }
    const [{ id }] = await sync('rooms', [room])
    const records = [id, mine.room.id, { toString: 1 }].map((one) => ({ ...room, id: one }))
    const [other, odd] = [
      rejected('external_id', 'cannot change'),
      rejected('id', 'must be the id of a record'),
    ]
    expect(await outcomes('rooms', records)).toEqual(['unchanged', other, odd])
  })
})

describe('a patient who would become another person', () => {
  const other = { ...ada, first_name: 'Bo', last_name: 'Noll', date_of_birth: '1990-01-01' }

  it('is rejected, and so are records with swapped ids', async () => {
    await sync('patients', [ada, { ...other, external_id: 'P-2' }])
    const issues = rejected('external_id', 'another_person')
    expect(await outcomes('patients', [other, { ...ada, external_id: 'P-2' }])).toEqual([issues, issues])
    expect(await outcomes('patients', [other], { overwrite: true })).toEqual(['updated'])
  })

  it('is rejected if the record is named by its id, before it is linked', async () => {
    const [{ id }] = await sync('patients', [ada])
    const { external_id: _, ...fields } = other
    expect(await outcomes('patients', [{ ...fields, id }])).toEqual([rejected('id', 'another_person')])
    const linked = await sync('patients', [{ ...fields, id: mine.patient.id, external_id: 'P-9' }])
    expect(linked[0].issues.length).toBeGreaterThan(0)
    expect(await outcomes('patients', [{ ...ada, external_id: 'P-9' }])).toEqual(['created'])
  })

  it('is warned of if a date of birth is missing', async () => {
    await sync('patients', [{ ...ada, date_of_birth: null }])
    const [{ outcome, warnings }] = await sync('patients', [other])
    expect([outcome, warnings]).toEqual(['updated', rejected('first_name', expect.any(String))])
  })

  it.each([
    ['the first name stays', { last_name: 'Noll', date_of_birth: '1990-01-01' }],
    ['the last name stays, folded', { first_name: 'Bo', last_name: 'KAYA', date_of_birth: '1990-01-01' }],
    ['the date of birth stays', { first_name: 'Bo', last_name: 'Noll' }],
  ])('is the same one if %s', async (_, change) => {
    await sync('patients', [ada])
    expect(await outcomes('patients', [{ ...ada, ...change }])).toEqual(['updated'])
  })
})

describe('records of one request', () => {
  const bo = { ...ada, external_id: 'P-2', first_name: 'Bo', last_name: 'Noll', date_of_birth: '1990-01-01' }
  beforeEach(async () => void (await sync('patients', [ada, bo])))

  it('of two practices with one id do not become one: the first is compared, the later is rejected', async () => {
    const [theirs, another] = [{ ...bo, external_id: 'P-1' }, rejected('external_id', 'another_person')]
    expect(await outcomes('patients', [theirs, ada])).toEqual([another, repeated])
    expect(await outcomes('patients', [ada, theirs])).toEqual(['unchanged', repeated])
    const visits = [visit(), { ...visit('10:00', '10:30'), patient_external_id: 'P-2' }]
    expect(await outcomes('appointments', visits)).toEqual(['created', repeated])
  })

  it('that swap their ids keep their times and patients', async () => {
    const other = { ...visit('10:00', '10:30', 'A-2'), patient_external_id: 'P-2' }
    await sync('appointments', [visit(), other])
    const swapped = [{ ...other, external_id: 'A-1' }, visit('09:00', '09:30', 'A-2')]
    expect(await outcomes('appointments', swapped)).toEqual([taken, taken])
    expect(await outcomes('appointments', [visit(), other])).toEqual(['unchanged', 'unchanged'])
  })

  it('that overlap are rejected but for the first, unless overlaps are allowed', async () => {
    const records = [visit(), visit('09:15', '09:45', 'A-2'), visit('09:30', '10:00', 'A-3')]
    expect(await outcomes('appointments', records)).toEqual(['created', taken, 'created'])
    expect(await outcomes('appointments', records.slice(1, 2), { allow_overlaps: true })).toEqual(['created'])
  })

  it('have a number each: one that another gives up is free for the next request', async () => {
    const bills = (...numbers: string[]) => {
      const facts = { patient_external_id: 'P-1', issue_date: '2026-01-05', subtotal: 5 }
      const rows = numbers.map((invoice_number, at) => ({ ...facts, external_id: `I-${at}`, invoice_number }))
      return outcomes('invoices', rows)
    }
    const used = rejected('invoice_number', 'invoice_number_taken')
    expect(await bills('7', '7')).toEqual(['created', used])
    expect(await bills('8', '7')).toEqual(['updated', used])
    expect(await bills('8', '7')).toEqual(['unchanged', 'created'])
    expect(await bills('7', '8')).toEqual([used, used])
    await db.table.putMany([{ ...takenNumberKey(mine.clinic.id, '9'), i: newUuid() }])
    expect(await bills('9')).toEqual(['updated'])
  })
})

describe('an appointment', () => {
  beforeEach(async () => void (await sync('patients', [ada])))

  it.each(['completed', 'no_show'])('that is still to come cannot be %s', async (status) => {
    expect(await outcomes('appointments', [{ ...visit(), status }])).toEqual([
      rejected('status', 'appointment_not_due'),
    ])
    const past = { ...visit(), status, appointment_date: '2026-01-05' }
    expect(await outcomes('appointments', [past])).toEqual(['created'])
  })

  it('to come of an inactive patient, and what is too long ago, is warned of', async () => {
    await sync('patients', [{ ...ada, is_active: false }])
    const warned = async (record: object) =>
      (await sync('appointments', [record]))[0].warnings.map(
        ({ field, issue }: Record<string, string>) => `${field} ${issue}`,
      )
    expect(await warned(visit())).toContain('patient_external_id is an inactive patient')
    const old = { ...visit(), external_id: 'A-2', appointment_date: '1901-01-05', status: 'completed' }
    expect(await warned(old)).toEqual(['appointment_date is more than 100 years ago'])
    const [{ warnings }] = await sync('patients', [{ ...grace, date_of_birth: '1899-12-31' }])
    expect(warnings).toEqual(rejected('date_of_birth', 'is more than 120 years ago'))
  })
})

describe('when the table becomes unavailable', () => {
  const many = Array.from({ length: 40 }, (_, at) => ({
    ...ada,
    external_id: `P-${at}`,
    last_name: `K${at}`,
  }))

  it('returns 200 in its time with what became of each record, and the same request completes it', async () => {
    const keyed = { ...headers, 'idempotency-key': 'once', 'content-type': 'application/json' }
    const sent = {
      method: 'POST',
      headers: keyed,
      body: JSON.stringify({ entity: 'patients', records: many }),
    }
    const handler = await handlerOf({ id: 'sync-records' })
    let transactions = 0
    dynamodb.faults.next({ operation: 'TransactWriteItems', kind: 'held', matches: () => ++transactions > 2 })
    const { status, body } = await call(handler, sent, lambdaContext(2500))
    expect([status, body.meta.created, body.meta.rejected]).toEqual([200, 32, 8])
    expect(body.data.at(-1).issues).toEqual(rejected('external_id', 'unavailable'))
    dynamodb.faults.clear()
    // The last transaction may have been committed.
    expect((await call(handler, sent)).body.meta).toMatchObject({ updated: 0, rejected: 0 })
    expect(await count('list-patients')).toBe(many.length + 1)
  })

  it('rejects a refund as unavailable if its payment was not written', async () => {
    dynamodb.faults.next({ operation: 'TransactWriteItems', kind: 'error-before-commit', times: 1000 })
    const unavailable = rejected('external_id', 'unavailable')
    const records = [payment('R', 'refund'), payment('Y', 'payment')]
    expect(await outcomes('payments', records)).toEqual([unavailable, unavailable])
  })

  it('returns 200 if a copy of the request has stored its response, which cannot be read', async () => {
    const keyed = { ...headers, 'idempotency-key': 'once' }
    const first = dynamodb.faults.next({ operation: 'BatchGetItem', kind: 'held' })
    const later = send({ entity: 'patients', records: [ada] }, keyed)
    await first.reached
    await send({ entity: 'patients', records: [ada] }, keyed)
    dynamodb.faults.next({ operation: 'GetItem', kind: 'error-before-commit', times: 1000 })
    first.release()
    expect(await later).toMatchObject({ status: 200, body: { data: [{ outcome: 'unchanged' }] } })
  })
})

describe('with an idempotency key', () => {
  it('sends the response of the first request again, which is stored without external ids', async () => {
    const keyed = { ...headers, 'idempotency-key': 'once' }
    const first = await send({ entity: 'patients', records: [ada] }, keyed)
    const again = await send({ entity: 'patients', records: [ada] }, keyed)
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(RESPONSE_TTL_SECONDS).toBeGreaterThan(0)
    const other = await send({ entity: 'patients', records: [grace] }, keyed)
    expect(other.body.error?.key ?? other.body.message).toContain('idempotency_key_reused')
  })
})
