/** Creating, changing, sending and cancelling invoices by requests. */
import { beforeEach, describe, expect, it } from 'vitest'
import { wallClock } from '../../shared/domain/clock.ts'
import type { Invoice } from '../../shared/domain/money/invoice.ts'
import { MAX_MINOR_UNITS } from '../../shared/domain/money/money.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { invoiceChangeStore } from '../../shared/store/calendar/invoice-changes.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../shared/store/calendar/payments.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { readImportIds } from '../../shared/store/external-ids/derive.ts'
import { takenNumberKey } from '../../shared/store/keys/calendar.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { UnavailableError } from '../../shared/store/table/errors.ts'
import { UNREQUESTED } from '../../shared/store/table/idempotency.ts'
import { issueCredential } from '../support/credentials.ts'
import { request } from '../support/functions.ts'
import { realisticTableOfFunctions } from '../support/realistic-table.ts'
import { createPopulatedClinic, createRecord, type PopulatedClinic } from '../support/records.ts'
import { newInvoice } from '../support/route-samples.ts'
import { aPatient, newClinic } from '../support/table.ts'

const { db } = realisticTableOfFunctions()
let mine: PopulatedClinic
let headers: Record<string, string>

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
  headers = (await issueCredential(db.table, mine.clinic)).headers
})

const LINE = { description: 'Filling', quantity: 1.5, unit_price: 33.33, tax_rate: 20 }

const send = (id: string, body: object = {}, invoice?: string, by = headers) =>
  request(id, { ...(invoice && { path: { id: invoice } }), headers: by, body })
const create = (body: object = {}, by = headers) =>
  send('create-invoice', { patient_id: mine.patient.id, line_items: [LINE], ...body }, undefined, by)
const draft = async (body: object = {}): Promise<string> => (await create(body)).body.data.id
const stored = async (id: string) => (await invoiceStore(db).find(mine.clinic.id, id))?.record
const errorOf = ({ status, body }: { status: number; body: { message?: string; details?: object[] } }) => [
  status,
  body.message?.replace('errors.developer_api.', ''),
  ...(body.details ? [body.details] : []),
]
const year = new Date().toISOString().slice(0, 4)

describe('POST /invoices', () => {
  it('returns the invoice as GET does, with calculated amounts, names, and the next number of its year', async () => {
    const { appointment, doctor, treatment } = mine
    const response = await create({
      appointment_id: appointment.id,
      doctor_id: doctor.id,
      issue_date: '2031-05-06',
      line_items: [LINE, { ...LINE, discount_rate: 10, treatment_id: treatment.id }],
    })
    const { data } = response.body
    const named = { id: doctor.id, full_name: doctor.fullName }
    expect([response.status, data]).toMatchObject([
      201,
      {
        ...{ invoice_number: '2031-000001', status: 'draft', issue_date: '2031-05-06', due_date: null },
        // 2 x 49.995; 10 % of 50.00; 20 % of 50.00 and of 45.00.
        ...{ subtotal: 99.99, discount_amount: 5, tax_amount: 19, total_amount: 113.99, balance_due: 113.99 },
        ...{ currency: 'EUR', appointment_id: appointment.id, doctor: named, payments: [] },
        line_items: [
          { total_amount: 60, doctor: named, treatment: null },
          { total_amount: 54, doctor: named, treatment: { id: treatment.id, name: treatment.name } },
        ],
      },
    ])
    expect(response.headers.location).toMatch(`/invoices/${data.id}`)
    const read = await request('get-invoice', { path: { id: data.id }, headers })
    expect([read.body, read.headers.etag]).toEqual([response.body, response.headers.etag])
    expect((await create({ issue_date: '2031-01-01' })).body.data.invoice_number).toBe('2031-000002')
  })

  // In one of the two zones, it is another day than in UTC.
  it.each([
    ['JPY', 'Pacific/Kiritimati'],
    ['KWD', 'Etc/GMT+12'],
  ])('has the decimals of %s, and the date in %s', async (currency, timezone) => {
    const clinic = await newClinic(db.table, { currency, timezone })
    const patient = aPatient()
    await patientWriter(db).createMany(clinic.id, [patient])
    const by = (await issueCredential(db.table, clinic)).headers
    const line = { ...LINE, unit_price: currency === 'JPY' ? 333 : 12.345, discount_rate: 5, tax_rate: 10 }
    const body = { patient_id: patient.id, line_items: [line, line] }
    const amounts = {
      JPY: { subtotal: 999, discount_amount: 50, tax_amount: 96, total_amount: 1045 },
      KWD: { subtotal: 37.035, discount_amount: 1.852, tax_amount: 3.518, total_amount: 38.701 },
    }
    const { date } = wallClock(Date.now(), timezone)
    const expected = { ...amounts[currency as 'JPY'], issue_date: date }
    expect((await create(body, by)).body.data).toMatchObject(expected)
  })

  it('gives 64 concurrent invoices consecutive numbers, and none to an attempt that failed', async () => {
    const { clinic, patient } = mine
    const { create } = invoiceChangeStore(db)
    const created = async (id: string): Promise<string> => {
      const request = {
        ...{ id, patient: patient.id, currency: clinic.currency, issueDate: '2031-05-06', externalId: null },
        lineItems: [{ description: 'Filling', unitPrice: 1, doctor: null, treatment: null }],
        createdAt: new Date().toISOString(),
      }
      try {
        const outcome = await create(clinic.id, request, { ...UNREQUESTED, check: () => {} })
        return outcome.kind === 'done' ? outcome.invoice.number : outcome.kind
      } catch (error) {
        if (error instanceof UnavailableError) return created(id)
        throw error
      }
    }
    const numbers = await Promise.all(Array.from({ length: 64 }, () => created(newUuid())))
    expect(numbers.sort()).toEqual(numbers.map((_, at) => `2031-${String(at + 1).padStart(6, '0')}`))
  }, 60_000)

  it('skips the numbers of other invoices, however many were imported', async () => {
    const taken = (n: number) =>
      newInvoice(db.table, mine, { number: `${year}-${String(n).padStart(6, '0')}` })
    const numbers = async () => (await create()).body.data.invoice_number
    await taken(2)
    expect([await numbers(), await numbers()]).toEqual([`${year}-000001`, `${year}-000003`])
    for (let n = 4; n <= 48; n++) await taken(n)
    expect([await numbers(), await numbers()]).toEqual([`${year}-000049`, `${year}-000050`])
  })

  it('leaves out a number that is taken by no invoice, and takes it if it is asked for', async () => {
    const strays = [1, 2].map((n) => `${year}-00000${n}`)
    await db.table.putMany(
      strays.map((number) => ({ ...takenNumberKey(mine.clinic.id, number), i: newUuid() })),
    )
    expect((await create()).body.data.invoice_number).toBe(`${year}-000003`)
    const id = await draft({ invoice_number: strays[0] })
    expect(errorOf(await create({ invoice_number: strays[0] }))).toEqual([
      409,
      'invoice_number_taken',
      [{ field: 'invoice_number', id }],
    ])
  })

  it('takes numbers with composed and decomposed accents for one, also that of an invoice from before', async () => {
    const [composed, decomposed] = ['Reçu-1', 'Reçu-1'.normalize('NFD')] as const
    const { id } = await newInvoice(db.table, mine, { number: decomposed })
    const taken = [409, 'invoice_number_taken', [{ field: 'invoice_number', id }]]
    for (const invoice_number of [composed, decomposed]) {
      expect(errorOf(await create({ invoice_number }))).toEqual(taken)
      const query = { invoice_number }
      expect((await request('list-invoices', { headers, query })).body.data).toMatchObject([{ id }])
    }
    const created = await create({ invoice_number: 'Reçu-2'.normalize('NFD') })
    expect(created.body.data.invoice_number).toBe('Reçu-2')
  })

  it('creates one of concurrent invoices with a number, and rejects the others', async () => {
    const responses = await Promise.all([1, 2, 3].map(() => create({ invoice_number: 'A 1' })))
    const created = responses.filter(({ status }) => status === 201)
    expect(created).toHaveLength(1)
    for (const response of responses.filter(({ status }) => status !== 201))
      expect(errorOf(response)).toEqual([
        409,
        'invoice_number_taken',
        [{ field: 'invoice_number', id: created[0]?.body.data.id }],
      ])
  })

  it('creates one of concurrent invoices with an external id, under the id that imports derive', async () => {
    const responses = await Promise.all([1, 2].map(() => create({ external_id: 'R-1' })))
    const [created, taken] = responses.sort((a, b) => a.status - b.status)
    const id = created?.body.data.id
    expect(id).toBe((await readImportIds(db.table, mine.clinic.id))('invoice', 'R-1'))
    expect(taken && errorOf(taken)).toEqual([409, 'external_id_taken', [{ field: 'external_id', id }]])
  })

  const lines = (...facts: object[]) => ({ line_items: facts.map((one) => ({ ...LINE, ...one })) })
  const notFound = (key: string, ...fields: string[]) => [
    404,
    `${key}_not_found`,
    fields.map((field) => ({ field })),
  ]
  const invalid = (...issues: [field: string, issue: string][]) => [
    422,
    'validation',
    issues.map(([field, issue]) => ({ field, issue })),
  ]
  it.each<[string, object, unknown[]]>([
    ['an unknown patient', { patient_id: newUuid() }, notFound('patient', 'patient_id')],
    ['an unknown appointment', { appointment_id: newUuid() }, notFound('appointment', 'appointment_id')],
    [
      'unknown doctors',
      { doctor_id: newUuid(), ...lines({}, { doctor_id: newUuid() }) },
      notFound('doctor', 'doctor_id', 'line_items.1.doctor_id'),
    ],
    [
      'an unknown treatment',
      lines({ treatment_id: newUuid() }),
      notFound('treatment', 'line_items.0.treatment_id'),
    ],
    ['a status of payments', { status: 'paid' }, invalid(['status', 'must be one of draft, sent'])],
    ['no line items', lines(), invalid(['line_items', 'must have at least one line item'])],
    [
      'too many decimals and an amount that is too large',
      lines({ unit_price: 0.001 }, { unit_price: MAX_MINOR_UNITS / 100 }),
      invalid(
        ['line_items.0.unit_price', 'must be a number with at most 2 decimals in EUR'],
        ['line_items.1.unit_price', 'is too large when multiplied by quantity'],
        ['line_items', 'subtotal is too large'],
        ['line_items', 'total_amount is too large'],
      ),
    ],
    [
      'a discount twice',
      lines({ discount_rate: 1, discount_amount: 1 }),
      invalid(['line_items.0.discount_rate', 'must not be combined with discount_amount']),
    ],
    [
      'a negative total',
      lines({ discount_amount: 100 }),
      invalid(['line_items', 'total_amount must not be negative']),
    ],
    [
      'more than a list can show',
      lines(...Array(100).fill({ description: '"'.repeat(500) })),
      invalid(['line_items', expect.stringContaining('is too large')]),
    ],
  ])('rejects an invoice with %s, and writes nothing', async (_, body, expected) => {
    expect(errorOf(await create(body))).toEqual(expected)
    expect((await create()).body.data.invoice_number).toBe(`${year}-000001`)
  })

  it('rejects the appointment of another patient, and the amounts of a request', async () => {
    const patient = aPatient()
    await patientWriter(db).createMany(mine.clinic.id, [patient])
    const body = { patient_id: patient.id, appointment_id: mine.appointment.id }
    const issue = 'must be an appointment of the patient'
    expect(errorOf(await create(body))).toEqual([422, 'validation', [{ field: 'appointment_id', issue }]])
    const { body: error } = await create({ total_amount: 1, ...lines({ tax_amount: 1 }) })
    expect(error.details.map(({ field }: { field: string }) => field).sort()).toEqual([
      'line_items.0.tax_amount',
      'total_amount',
    ])
  })

  it('returns only ids, sent fields, status and timestamps without finance.read', async () => {
    const { headers: by } = await issueCredential(db.table, mine.clinic, ['invoice.write'])
    const { body } = await create({ due_date: '2031-01-01', doctor_id: mine.doctor.id }, by)
    const fields = ['created_at', 'due_date', 'id', 'paid_at', 'status', 'updated_at']
    expect(Object.keys(body.data).sort()).toEqual(fields)
  })
})

describe('PATCH /invoices/{id}', () => {
  it('changes every field of a draft, and frees its number', async () => {
    const id = await draft({ invoice_number: 'A 1', doctor_id: mine.doctor.id })
    const patient = aPatient()
    await patientWriter(db).createMany(mine.clinic.id, [patient])
    const copied = { invoice_number: 'A 2', issue_date: '2031-01-02', due_date: '2031-02-01', status: 'sent' }
    const line_items = [{ description: 'X-ray', quantity: 1, unit_price: 7 }]
    const changes = { ...copied, patient_id: patient.id, doctor_id: null, line_items }
    const { status, body } = await send('update-invoice', changes, id)
    const shown = { ...copied, patient: { id: patient.id }, doctor: null, line_items, total_amount: 7 }
    expect([status, body.data]).toMatchObject([200, shown])
    expect((await create({ invoice_number: 'A 1' })).status).toBe(201)
    expect(errorOf(await create({ invoice_number: 'A 2' })).slice(0, 2)).toEqual([
      409,
      'invoice_number_taken',
    ])
  })

  it('changes due date, appointment and doctor of an invoice that was sent, and nothing else', async () => {
    const id = await draft({ status: 'sent' })
    const changes = { due_date: '2031-02-01', appointment_id: mine.appointment.id, doctor_id: mine.doctor.id }
    expect((await send('update-invoice', changes, id)).status).toBe(200)
    const before = await stored(id)
    const rejected = await send('update-invoice', { ...changes, status: 'sent', line_items: [LINE] }, id)
    const fields = [{ field: 'status' }, { field: 'line_items' }]
    expect(errorOf(rejected)).toEqual([409, 'invoice_not_draft', fields])
    expect(await stored(id)).toEqual(before)
  })

  it('rejects another number or patient of a draft that has payments, which copy both', async () => {
    const { id, number } = await newInvoice(db.table, mine, { status: 'draft', clinicStatus: 'draft' })
    const payment = { ...mine.payment, id: newUuid(), invoice: { id, number } }
    await createRecord(db.table, mine.clinic, paymentStore(db), payment)
    const rejected = await send('update-invoice', { invoice_number: 'A 1' }, id)
    expect(errorOf(rejected)).toEqual([409, 'invoice_has_payments'])
    expect((await send('update-invoice', { line_items: [LINE] }, id)).status).toBe(200)
  })

  it('returns 404 for an unknown invoice, and 409 for the invoice of an erased patient', async () => {
    const id = await draft()
    await patientChanges(db.table).erase(mine.clinic.id, mine.patient.id)
    for (const action of ['update-invoice', 'send-invoice', 'cancel-invoice']) {
      expect(errorOf(await send(action, {}, newUuid()))).toEqual([404, 'invoice_not_found'])
      expect(errorOf(await send(action, {}, id))).toEqual([409, 'invoice_closed'])
    }
  })
})

describe('POST /invoices/{id}/send and /cancel', () => {
  const unpaid = (clinicStatus: Invoice['clinicStatus']) =>
    newInvoice(db.table, mine, { clinicStatus, status: clinicStatus })

  it.each<[string, Invoice['clinicStatus'], [number, string]]>([
    ['send', 'draft', [200, 'sent']],
    ['send', 'pending', [200, 'sent']],
    ['send', 'overdue', [200, 'overdue']],
    ['send', 'cancelled', [409, 'invoice_closed']],
    ['cancel', 'draft', [200, 'cancelled']],
    ['cancel', 'sent', [200, 'cancelled']],
  ])('%s an invoice that is %s once, and a repetition changes nothing', async (action, status, expected) => {
    const { id } = await unpaid(status)
    const first = await send(`${action}-invoice`, {}, id)
    expect(errorOf(first)).toEqual(first.status === 200 ? [200, undefined] : expected)
    if (first.status !== 200) return
    expect(first.body.data.status).toBe(expected[1])
    const again = await send(`${action}-invoice`, {}, id)
    expect([again.status, again.body]).toEqual([200, first.body])
  })

  it('cancels an invoice with payments once they are refunded or voided', async () => {
    const { id } = await unpaid('sent')
    const pay = (body: object) =>
      send('create-payment', { invoice_id: id, amount: 40, payment_method: 'card', ...body })
    const paid = (await pay({})).body.data.id
    expect(errorOf(await send('cancel-invoice', {}, id))).toEqual([409, 'invoice_has_payments'])
    await send('void-payment', { reason: 'Entered twice' }, paid)
    expect((await send('cancel-invoice', {}, id)).body.data).toMatchObject({
      status: 'cancelled',
      payments: [{ id: paid, status: 'failed' }],
    })
  })
})
