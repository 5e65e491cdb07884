/** `after` and `updated_since` of the five lists, through the handlers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { BASE_PATH } from '../../shared/api/route.ts'
import type { Scope } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { listCursors } from '../../shared/requests/record-list.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { changeIndexKey } from '../../shared/store/keys/change-index.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { issueCredential } from '../support/credentials.ts'
import { assertConforms } from '../support/document-conformance.ts'
import { request, stubFunctionEnvironment } from '../support/functions.ts'
import { createPopulatedClinic, createRecord, type PopulatedClinic } from '../support/records.ts'
import { aPatient, freshTable, type TestTable } from '../support/table.ts'

const LISTS = ['patients', 'appointments', 'invoices', 'payments', 'messages'] as const
const PATIENTS = 7

const machineNow = Date.now
let ahead = 0
let db: TestTable
let made: PopulatedClinic
let headers: Record<string, string>
let startedAt: string

beforeAll(async () => {
  vi.spyOn(Date, 'now').mockImplementation(() => machineNow() + ahead)
  db = await freshTable()
  stubFunctionEnvironment(db.name)
  startedAt = new Date(Date.now() - 1000).toISOString()
  made = await createPopulatedClinic(db.table)
  await patientWriter(db).createMany(
    made.clinic.id,
    Array.from({ length: PATIENTS - 1 }, () => aPatient({ firstName: 'Ada' })),
  )
  const { id, name } = made.room
  for (const facts of [{}, { status: 'cancelled' as const }, { room: { id, name } }])
    await createRecord(db.table, made.clinic, appointmentStore(db), {
      ...made.appointment,
      id: newUuid(),
      ...facts,
    })
  const doctor = { id: made.doctor.id, fullName: made.doctor.fullName }
  for (const facts of [{ doctor }, { doctor, appointmentId: made.appointment.id }, { lineItems: [] }])
    await createRecord(db.table, made.clinic, invoiceStore(db), { ...made.invoice, id: newUuid(), ...facts })
  headers = (await issueCredential(db.table, made.clinic)).headers
  ahead = 22_000
})

const list = async (name: string, query: Record<string, string> = {}) =>
  request(`list-${name}`, { headers, query })

async function readAll(name: string, query: Record<string, string>) {
  const first = await list(name, query)
  const ids: string[] = first.body.data.map(({ id }: { id: string }) => id)
  const { page: _, ...rest } = query
  for (let { next_after: after } = first.body.meta; after !== null; ) {
    const { body } = await list(name, { ...rest, after })
    ids.push(...body.data.map(({ id }: { id: string }) => id))
    after = body.meta.next_after
  }
  return ids
}

const INVALID_CURSOR = {
  error: 'INVALID_PARAMS',
  message: 'errors.developer_api.invalid_cursor',
  details: [{ field: 'after', issue: 'must be the next_after of an earlier response' }],
}

describe('after', () => {
  it.each(['patients', 'appointments'])('continues with %s from any page to the end', async (name) => {
    const all = (await list(name, { limit: '100' })).body
    expect(all.meta.next_after).toBeNull()
    const ids = all.data.map(({ id }: { id: string }) => id)
    for (const limit of ['1', '2', '3']) expect(await readAll(name, { limit })).toEqual(ids)
    expect(await readAll(name, { limit: '2', page: '2' })).toEqual(ids.slice(2))
  })

  it('has no totals in its meta', async () => {
    const { body } = await list('patients', { limit: '2' })
    expect(body.meta).toEqual({ page: 1, limit: 2, total: 7, total_pages: 4, next_after: expect.any(String) })
    const next = (await list('patients', { limit: '2', after: body.meta.next_after })).body
    expect(next.meta).toEqual({ limit: 2, next_after: expect.any(String), has_more: true })
    const last = (await list('patients', { limit: '100', after: body.meta.next_after })).body
    expect(last.meta).toEqual({ limit: 100, next_after: null, has_more: false })
  })

  it('shows no patient twice, and misses none, when others are created', async () => {
    const { body } = await list('patients', { limit: '3' })
    await patientWriter(db).createMany(made.clinic.id, [aPatient({ firstName: 'New' })])
    const rest = await readAll('patients', { limit: '2', after: body.meta.next_after })
    const ids = [...body.data.map(({ id }: { id: string }) => id), ...rest]
    expect(ids).toHaveLength(PATIENTS)
    expect(new Set(ids).size).toBe(PATIENTS)
  })

  it.each([
    ['unreadable', async () => ({ after: 'x' })],
    ['empty', async () => ({ after: '' })],
    ['not one of ours', async () => ({ after: '%2B!' })],
    [
      'tampered with',
      async (after: string) => ({ after: `${after.startsWith('A') ? 'B' : 'A'}${after.slice(1)}` }),
    ],
    ['longer', async (after: string) => ({ after: `${after}A` })],
    ['a cursor of other filters', async (after: string) => ({ after, search: 'ada' })],
    ['a cursor of changes', async (after: string) => ({ after, updated_since: '2026-01-01T00:00:00Z' })],
  ])('is a 400 that names it when the cursor is %s', async (_, query) => {
    const { meta } = (await list('patients', { limit: '2' })).body
    const { status, body } = await list('patients', (await query(meta.next_after)) as never)
    expect([status, body]).toEqual([400, INVALID_CURSOR])
  })

  it("is a 400 for another list's cursor, and for another clinic's", async () => {
    const { meta } = (await list('patients', { limit: '2' })).body
    expect((await list('appointments', { after: meta.next_after })).body).toEqual(INVALID_CURSOR)
    const other = await createPopulatedClinic(db.table)
    const { headers: others } = await issueCredential(db.table, other.clinic)
    const { status, body } = await request('list-patients', {
      headers: others,
      query: { after: meta.next_after },
    })
    expect([status, body]).toEqual([400, INVALID_CURSOR])
  })

  it('is a 400 together with page', async () => {
    const { meta } = (await list('payments', { limit: '1' })).body
    expect(meta.next_after).toBeNull()
    const { next_after: after } = (await list('appointments', { limit: '1' })).body.meta
    const { status, body } = await list('appointments', { after, page: '1' })
    expect([status, body.details]).toEqual([
      400,
      [{ field: 'page', issue: 'must not be combined with after' }],
    ])
  })
})

it('the order mirrors the list and its cursors, and is bound to them', async () => {
  const newest = (await list('appointments')).body.data.map(({ id }: { id: string }) => id)
  for (const limit of ['1', '3', '100'])
    expect(await readAll('appointments', { order: 'asc', limit })).toEqual([...newest].reverse())
  const { body } = await list('appointments', { order: 'desc', limit: '1' })
  const after = body.meta.next_after
  expect((await list('appointments', { after, limit: '1' })).body.data[0].id).toBe(newest[1])
  expect((await list('appointments', { after, order: 'asc' })).body).toEqual(INVALID_CURSOR)
})

it.each<[name: string, parameter: string, matching: () => string, other: string]>([
  ['appointments', 'patient_id', () => made.patient.id, newUuid()],
  ['appointments', 'doctor_id', () => made.doctor.id, newUuid()],
  ['appointments', 'status', () => 'scheduled', 'no_show'],
  ['appointments', 'date_from', () => made.appointment.date, '2026-05-05'],
  ['appointments', 'date_to', () => made.appointment.date, '2026-05-03'],
  ['invoices', 'patient_id', () => made.patient.id, newUuid()],
  ['invoices', 'status', () => made.invoice.status, 'draft'],
  ['invoices', 'from', () => made.invoice.issueDate, '2026-05-05'],
  ['invoices', 'to', () => made.invoice.issueDate, '2026-05-03'],
  ['payments', 'patient_id', () => made.patient.id, newUuid()],
  ['payments', 'invoice_id', () => made.invoice.id, newUuid()],
  ['payments', 'status', () => made.payment.status, 'pending'],
  ['payments', 'from', () => made.payment.date, '2026-05-05'],
  ['payments', 'to', () => made.payment.date, '2026-05-03'],
  ['messages', 'patient_id', () => made.patient.id, newUuid()],
  ['messages', 'channel', () => made.message.channel, 'sms'],
  ['messages', 'from', () => made.message.acceptedOn, '2026-05-02'],
  ['messages', 'to', () => made.message.acceptedOn, '2026-04-30'],
])('a filter of %s by %s selects those that match', async (name, parameter, matching, other) => {
  const totalOf = async (value: string) => (await list(name, { [parameter]: value })).body.meta.total
  expect(await totalOf(matching())).toBeGreaterThan(0)
  expect(await totalOf(other)).toBe(0)
})

it('a list filtered by dates up to 9999-12-31 has the totals of records with any date', async () => {
  const { clinic, appointment } = await createPopulatedClinic(db.table)
  const last = { ...appointment, id: newUuid(), date: '9999-12-31' }
  await createRecord(db.table, clinic, appointmentStore(db), last)
  const credential = await issueCredential(db.table, clinic)
  const total = async (query: Record<string, string>) => {
    const { body } = await request('list-appointments', { query, headers: credential.headers })
    return [body.meta.total, body.data.length]
  }
  expect(await total({})).toEqual([2, 2])
  expect(await total({ date_to: '9999-12-31' })).toEqual([2, 2])
  expect(await total({ date_from: '9999-12-31' })).toEqual([1, 1])
  expect(await total({ date_from: '9999-12-31', patient_id: appointment.patient.id })).toEqual([1, 1])
  expect(await total({ date_from: '2200-01-01', doctor_id: appointment.doctor.id })).toEqual([1, 1])
  expect(await total({ date_from: '0001-01-01', date_to: '9999-12-30' })).toEqual([1, 1])
})

it('a list of statuses selects the records with any of them, in whatever order they are named', async () => {
  const read = async (query: Record<string, string>) => (await list('appointments', query)).body
  const { data, meta } = await read({ status: 'scheduled,cancelled', limit: '2' })
  expect(meta.total).toBe(4)
  expect((await read({ status: 'completed,scheduled' })).meta.total).toBe(3)
  const rest = await read({ status: 'cancelled,scheduled,cancelled', after: meta.next_after })
  expect([...data, ...rest.data]).toEqual((await read({})).data)
  expect((await list('appointments', { status: 'scheduled,' })).body).toMatchObject({
    message: 'errors.developer_api.invalid_params',
    details: [{ field: 'status', issue: expect.stringMatching(/^must be one or more of scheduled, /) }],
  })
})

describe('a filter that no tally counts', () => {
  const MAY = { from: '2026-05-01', to: '2026-05-31' }
  const issue = 'requires a range of dates of at most 31 days and 5,000 records'

  it.each([
    ['appointments', 'room_id', { date_from: MAY.from, date_to: MAY.to }],
    ['messages', 'status', MAY],
    ['invoices', 'appointment_id', MAY],
    ['invoices', 'doctor_id', MAY],
  ] as const)(
    'of %s is exact with a range of 31 days, a patient or an invoice number, and a 400 otherwise',
    async (name, field, range) => {
      const all = (await list(name, { ...range, limit: '100' })).body.data
      const wanted = {
        room_id: made.room.id,
        status: made.message.status,
        appointment_id: made.appointment.id,
        doctor_id: made.doctor.id,
      }[field]
      const has = (one: Record<string, any>) =>
        (field.endsWith('_id') ? (one[field.slice(0, -3)]?.id ?? one[field]) : one.status) === wanted
      const found = (await list(name, { ...range, [field]: wanted })).body
      expect([found.data, found.meta.total]).toEqual([all.filter(has), all.filter(has).length])
      expect(found.meta.total).toBeGreaterThan(0)
      const number = name === 'invoices' ? [{ invoice_number: made.invoice.number }] : []
      for (const selector of [{ patient_id: made.patient.id }, ...number])
        expect((await list(name, { ...selector, [field]: wanted })).body.meta?.total).toBe(found.meta.total)
      const [from, to] = Object.keys(range) as [string, string]
      for (const short of [{}, { [from]: MAY.from }, { [to]: MAY.to }, { ...range, [from]: '2026-04-30' }]) {
        const { status, body } = await list(name, { ...short, [field]: wanted })
        expect([status, body]).toEqual([
          400,
          {
            error: 'INVALID_PARAMS',
            message: 'errors.developer_api.range_required',
            details: [{ field, issue }],
          },
        ])
      }
    },
  )

  it('names both filters of invoices without a range, as documented', async () => {
    const filters = { appointment_id: newUuid(), doctor_id: newUuid() }
    const { status, headers, body } = await list('invoices', filters)
    expect(body.details.map(({ field }: { field: string }) => field)).toEqual(Object.keys(filters))
    assertConforms('GET', `${BASE_PATH}/invoices`, status, headers as Record<string, string>, body)
  })
})

describe.each(['appointment', 'invoice'] as const)('expand=patient of an %s', (kind) => {
  const read = async (scopes: Scope[], query: Record<string, string>) => {
    const { headers: own } = await issueCredential(db.table, made.clinic, scopes)
    const path = { id: made[kind].id }
    return [
      await request(`list-${kind}s`, { headers: own, query }),
      await request(`get-${kind}`, { headers: { ...own, 'if-none-match': '*' }, path, query }),
    ] as const
  }
  const scope = kind === 'appointment' ? 'appointment.read' : 'finance.read'

  it('shows the patient as GET /patients does, without an etag, and names it in the access line', async () => {
    const { id } = made.patient
    const patient = (await list('patients', { limit: '100' })).body.data.find(
      (one: { id: string }) => one.id === id,
    )
    const shown = { ...patient, ...(kind === 'invoice' && { email: made.patient.emailAddress }) }
    const [page, one] = await read([scope, 'patient.read', 'patient.read.private'], { expand: 'patient' })
    expect(page.body.data.map((record: { patient: object }) => record.patient)).toEqual(
      page.body.data.map(() => shown),
    )
    expect(page.accesses[0]?.records).toContain(id)
    expect([one.status, one.body.data.patient, one.headers.etag]).toEqual([200, shown, undefined])
  })

  it('requires patient.read', async () => {
    for (const { status, body } of await read([scope], { expand: 'patient' }))
      expect([status, body.details]).toEqual([403, [{ scope: 'patient.read' }]])
  })
})

describe('updated_since', () => {
  it.each(LISTS)('lists all %s by change, oldest first, up to 20 s ago', async (name) => {
    const all = (await list(name, { limit: '100' })).body
    const changed = (await list(name, { updated_since: startedAt, limit: '100' })).body
    const times = changed.data.map(({ updated_at }: { updated_at: string }) => updated_at)
    expect(times).toEqual([...times].sort())
    expect(Object.keys(changed.meta).sort()).toEqual(['as_of', 'has_more', 'limit', 'next_after'])
    const lag = Date.now() - Date.parse(changed.meta.as_of)
    expect(lag).toBeGreaterThanOrEqual(20_000)
    expect(lag).toBeLessThan(23_000)
    const ids = (records: { id: string }[]) => records.map(({ id }) => id).sort()
    const listed = name === 'patients' ? PATIENTS : all.data.length
    expect(ids(changed.data)).toHaveLength(listed)
    expect(ids(all.data)).toEqual(expect.arrayContaining(ids(changed.data)))
    expect((await readAll(name, { updated_since: startedAt, limit: '1' })).sort()).toEqual(ids(changed.data))
  })

  it('lists a record again when it is changed, and then only at its new time; erasure too', async () => {
    const { id } = made.patient
    const { as_of } = (await list('patients', { updated_since: startedAt })).body.meta
    await sleep(1)
    await patientChanges(db.table).erase(made.clinic.id, id)
    expect((await list('patients', { updated_since: as_of, limit: '100' })).body.data).toEqual([])
    ahead += 22_000
    for (const name of LISTS) {
      const { data } = (await list(name, { updated_since: as_of, limit: '100' })).body
      const ids = data.map((record: { id: string }) => record.id)
      const own = { patients: id, appointments: made.appointment.id, invoices: made.invoice.id }
      expect(ids).toContain({ ...own, payments: made.payment.id, messages: made.message.id }[name])
    }
    const again = (await list('patients', { updated_since: startedAt, limit: '100' })).body.data
    const shown = again.filter((patient: { id: string }) => patient.id === id)
    expect(shown).toMatchObject([{ full_name: 'Erased Patient', erased_at: expect.any(String) }])
  })

  it('leaves out a record that was changed after the index was read', async () => {
    const { clinic, patient } = await createPopulatedClinic(db.table)
    const key = changeIndexKey(clinic.id, 'P', { id: patient.id, updatedAt: '2026-01-01T00:00:00.000Z' })
    await db.table.transact([db.table.putWrite(key)])
    ahead += 22_000
    const { headers: own } = await issueCredential(db.table, clinic)
    const query = { updated_since: '2026-01-01T00:00:00Z', limit: '1' }
    const { body } = await request('list-patients', { headers: own, query })
    expect(body).toMatchObject({ data: [], meta: { has_more: true, next_after: expect.any(String) } })
    const after = body.meta.next_after
    const next = await request('list-patients', { headers: own, query: { ...query, after } })
    expect(next.body.data).toMatchObject([{ id: patient.id }])
  })

  it('takes an offset, and Z; a time to come lists nothing', async () => {
    const query = { updated_since: '2026-05-01T10:00:00.250+03:00' }
    expect((await list('patients', query)).status).toBe(200)
    const { status, body } = await list('patients', { updated_since: '2199-01-01T00:00:00Z' })
    expect([status, body.data, body.meta.next_after]).toEqual([200, [], null])
    expect((await list('patients', { updated_since: '0001-01-01T00:00:00+14:00' })).status).toBe(200)
  })

  it.each([
    '2026-05-01',
    '2026-05-01T10:00:00',
    '2026-05-01T10:00:00 03:00',
    '2026-02-30T10:00:00Z',
    'now',
    '',
  ])('is a 400 for %j', async (updated_since) => {
    const { status, body } = await list('payments', { updated_since })
    expect([status, body.details[0].field]).toEqual([400, 'updated_since'])
  })

  it.each([
    ['appointments', { page: '1' }],
    ['appointments', { status: 'scheduled' }],
    ['patients', { search: 'ada' }],
    ['payments', { from: '2026-01-01' }],
  ])('is a 400 in %s together with %j', async (name, more) => {
    const { status, body } = await list(name, { updated_since: startedAt, ...more } as never)
    const [field] = Object.keys(more)
    expect([status, body.details]).toEqual([
      400,
      [{ field, issue: 'must not be combined with updated_since' }],
    ])
  })
})

const DATES = { from: '2026-05-01', to: '2026-05-31' }

it.each([
  ...LISTS.map((name) => [name, {}] as const),
  ['appointments', { order: 'asc' }],
  ['appointments', { date_from: DATES.from, date_to: DATES.to }],
  ['invoices', { ...DATES, order: 'asc' }],
  ['payments', { ...DATES, invoice_id: newUuid() }],
] as const)('GET /%s with %j returns 400 for a cursor with an impossible position', async (name, filters) => {
  const cursors = listCursors({ list: name, clinic: made.clinic.id, filters })
  const positions = ['', 'abc', '-1', '#', '9'.repeat(30), '2026-05-04~', '2026-05-04😀', '\u0000']
  const outside = Object.keys(filters).some((field) => field.endsWith('from'))
    ? ['2026-04-30', '2026-06-01#']
    : []
  for (const position of [...positions, ...outside]) {
    const { status, body } = await list(name, { ...filters, after: cursors.encode(position) })
    expect([position, status, body]).toEqual([position, 400, INVALID_CURSOR])
  }
})

it('invoice_number finds all invoices with exactly this number, in order, as soon as they have it', async () => {
  const store = invoiceStore(db)
  const dates = ['2026-03-01', '2026-03-03', '2026-03-02']
  const ids = dates.map(() => newUuid())
  for (const [at, issueDate] of dates.entries()) {
    const facts = { id: ids[at] as string, number: 'A/1', issueDate }
    await createRecord(db.table, made.clinic, store, { ...made.invoice, ...facts })
  }
  const read = async (query: Record<string, string>) => {
    const found = await readAll('invoices', { invoice_number: 'A/1', ...query })
    return found.map((id) => dates[ids.indexOf(id)])
  }
  expect(await read({ limit: '1' })).toEqual(['2026-03-03', '2026-03-02', '2026-03-01'])
  expect(await read({ limit: '2', order: 'asc' })).toEqual(['2026-03-01', '2026-03-02', '2026-03-03'])
  expect(await read({ from: '2026-03-02', to: '2026-03-02', patient_id: made.patient.id })).toEqual([
    '2026-03-02',
  ])
  expect(await read({ status: 'paid' })).toEqual([])
  expect(await read({ patient_id: newUuid() })).toEqual([])
  expect(await read({ invoice_number: ' A/1 ', limit: '1' })).toEqual([
    '2026-03-03',
    '2026-03-02',
    '2026-03-01',
  ])
  expect((await list('invoices', { invoice_number: 'A/1', limit: '1' })).body.meta.total).toBe(3)
  const stored = await store.find(made.clinic.id, ids[1] as string)
  const changes = new Changeset(db.table, made.clinic.id)
  if (stored) store.change(changes, stored, { ...stored.record, number: 'A/2' })
  await changes.commit()
  expect(await read({})).toEqual(['2026-03-02', '2026-03-01'])
  expect(await read({ invoice_number: 'A/2' })).toEqual(['2026-03-03'])
  expect(await read({ invoice_number: 'A/' })).toEqual([])
})

it('a restore of the clinic ends every cursor, and the times of changes between the restored one and its end', async () => {
  const world = await createPopulatedClinic(db.table)
  const { id } = world.clinic
  await patientWriter(db).createMany(id, [aPatient()])
  const { headers: own } = await issueCredential(db.table, world.clinic)
  const read = async (query: Record<string, string>) => request('list-patients', { headers: own, query })
  const { next_after } = (await read({ limit: '1' })).body.meta
  const to = '2026-05-01T10:00:00.000Z'
  const endedAt = '2026-05-02T10:00:00.000Z'
  const restored = await clinicStore(db).update(id, { restores: [{ to, endedAt }] })
  await credentialStore({ table: db.table, now: Date.now }).refreshClinic(restored)

  const again = (await read({ limit: '1' })).body.meta.next_after
  expect((await read({ limit: '1', after: next_after })).body).toEqual(INVALID_CURSOR)
  expect((await read({ limit: '1', after: again })).status).toBe(200)
  const since = async (updated_since: string) => {
    const { status, body } = await read({ updated_since })
    return [status, body.message, body.details?.[0].field]
  }
  const undone = [400, INVALID_CURSOR.message, 'updated_since']
  expect(await since('2026-05-01T10:00:00.001Z')).toEqual(undone)
  expect(await since('2026-05-02T11:59:59+02:00')).toEqual(undone)
  expect((await since(to))[0]).toBe(200)
  expect((await since(endedAt))[0]).toBe(200)
})
