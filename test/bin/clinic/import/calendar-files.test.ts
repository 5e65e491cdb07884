import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { importEntities } from '../../../../bin/clinic/import/entities.ts'
import { importFile } from '../../../../bin/clinic/import/import-file.ts'
import { anonymizeResponse } from '../../../../shared/api/anonymize-response.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import type { Invoice } from '../../../../shared/domain/invoice.ts'
import type { Payment } from '../../../../shared/domain/payment.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import { settlement } from '../../../../shared/store/calendar/settlement.ts'
import { copiedNames } from '../../../../shared/store/copies/copied-names.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { patientSearch } from '../../../../shared/store/patients/search.ts'
import { commitWithRetry } from '../../../../shared/store/table/commit-packed.ts'
import { freshTable, NOW, newClinic, type TestTable } from '../../../support/table.ts'

let db: TestTable
let clinic: Clinic
const folder = mkdtempSync(join(tmpdir(), 'calendar-import-test-'))
const FIRST = { page: 1, limit: 100 }

beforeAll(async () => {
  db = await freshTable()
})
beforeEach(async () => {
  clinic = await newClinic(db.table)
  await load('patients', [
    {
      external_id: 1,
      first_name: 'Ada',
      last_name: 'Kaya',
      email_address: 'ada@x.org',
      phone_number: '+905321234567',
    },
    { external_id: 2, first_name: 'Bo', last_name: 'Lind' },
  ])
  await load('doctors', [{ external_id: 1, full_name: 'Dr. Eva Noll' }])
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Imports rows of one entity as a file would hold them. */
async function load(name: string, rows: object[]) {
  const file = join(folder, `${name}.ndjson`)
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  return loadFile(name, file)
}

async function loadFile(name: string, file: string) {
  const entity = importEntities(db.table, () => NOW).find((known) => known.name === name)
  if (!entity) throw new Error(`no entity ${name}`)
  const told: string[] = []
  const result = await importFile(file, entity, clinic, {
    now: () => NOW,
    onRejected: ({ reason }) => told.push(reason),
  })
  return { ...result, told }
}

const visit = {
  external_id: 'a',
  patient_external_id: 1,
  doctor_external_id: 1,
  appointment_date: '2026-03-29',
  start_time: '09:00',
  end_time: '09:30',
}
const invoice = {
  external_id: 'i',
  patient_external_id: 1,
  invoice_number: '7',
  issue_date: '2026-04-01',
  currency: 'EUR',
}
const lines = [
  { description: 'Visit', quantity: 1.5, unit_price: '33.33', tax_rate: 20 },
  { description: 'Test', unit_price: 10, discount_amount: '1.5', tax_rate: '8.25' },
]
const payment = {
  external_id: 'p',
  invoice_external_id: 'i',
  amount: '20.00',
  payment_method: 'card',
  payment_date: '2026-04-02',
}
const message = {
  external_id: 'm',
  patient_external_id: 1,
  channel: 'email',
  recipient: 'ada@x.org',
  message: 'Hello\nAda',
  sent_at: '2026-04-30T22:30:00Z',
}

const invoices = async () => (await invoiceStore(db).page(clinic.id, {}, FIRST)).items
const payments = async () => (await paymentStore(db).page(clinic.id, {}, FIRST)).items

describe('appointments', () => {
  it('enter with their patient and doctor, and change nothing when they come again', async () => {
    const rows = [visit, { ...visit, external_id: 'b', status: 'no_show', notes: 'late\nagain' }]
    expect(await load('appointments', rows)).toMatchObject({ imported: 2, told: [] })
    expect(await load('appointments', rows)).toMatchObject({ imported: 0, updated: 0, unchanged: 2 })
    const { items, total } = await appointmentStore(db).page(clinic.id, {}, FIRST)
    expect(total).toBe(2)
    expect(items.find(({ status }) => status === 'no_show')).toMatchObject({
      patient: { fullName: 'Ada Kaya' },
      doctor: { fullName: 'Dr. Eva Noll' },
      date: '2026-03-29',
      notes: 'late\nagain',
    })
  })

  it('move in lists and tallies when their row changes', async () => {
    await load('appointments', [visit])
    expect(
      await load('appointments', [{ ...visit, status: 'completed', appointment_date: '2026-04-02' }]),
    ).toMatchObject({ updated: 1 })
    const list = appointmentStore(db)
    expect((await list.page(clinic.id, { facet: 'scheduled' }, FIRST)).total).toBe(0)
    expect((await list.page(clinic.id, { facet: 'completed', from: '2026-04-01' }, FIRST)).total).toBe(1)
    expect((await list.page(clinic.id, { to: '2026-04-01' }, FIRST)).total).toBe(0)
  })

  it.each([
    [{ patient_external_id: 9 }, 'patient_external_id is not known: the clinic has no such patient'],
    [{ doctor_external_id: 9 }, 'doctor_external_id is not known: the clinic has no such doctor'],
    [{ patient_external_id: null }, 'patient_external_id is required'],
    [{ appointment_date: '2026-02-30' }, 'appointment_date must be a date that exists, as YYYY-MM-DD'],
    [{ start_time: '9:00' }, 'start_time must be a time from 00:00 to 23:59, as HH:MM'],
    [{ end_time: '24:00' }, 'end_time must be a time from 00:00 to 23:59, as HH:MM'],
    [{ end_time: '08:00' }, 'end_time must be after start_time, on the same day'],
    [{ status: 'missed' }, 'status must be one of scheduled, completed, cancelled, no_show'],
    [{ notes: 'x'.repeat(2001) }, 'notes must have at most 2000 characters'],
  ])('are rejected with %j', async (wrong, reason) => {
    expect(
      await load('appointments', [
        { ...visit, ...wrong },
        { ...visit, external_id: 'good' },
      ]),
    ).toMatchObject({ imported: 1, rejected: 1, told: [reason] })
  })

  it('load by the thousand, whatever transactions they fall into', async () => {
    const rows = Array.from({ length: 1200 }, (_, n) => ({
      ...visit,
      external_id: n,
      patient_external_id: 1 + (n % 2),
      appointment_date: `2026-${String(1 + (n % 12)).padStart(2, '0')}-15`,
    }))
    expect(await load('appointments', rows)).toMatchObject({ imported: 1200, rejected: 0 })
    expect(
      (await appointmentStore(db).page(clinic.id, { from: '2026-06-01', to: '2026-07-31' }, FIRST)).total,
    ).toBe(200)
  })
})

describe('invoices', () => {
  it('work their amounts out from the line items, in exact decimals', async () => {
    expect(await load('invoices', [{ ...invoice, line_items: lines }])).toMatchObject({
      imported: 1,
      told: [],
    })
    // 1.5 x 33.33 = 49.995 -> 50.00, tax 10.00; 10.00 - 1.50 = 8.50, tax 0.70125 -> 0.70
    expect(await invoices()).toMatchObject([
      {
        subtotal: 6000,
        discount: 150,
        tax: 1070,
        total: 6920,
        paid: 0,
        status: 'sent',
        lineItems: [{ quantity: 15_000, total: 6000 }, { total: 920 }],
      },
    ])
  })

  it('take stated amounts that add up, in currencies of any decimals', async () => {
    const rows = [
      {
        ...invoice,
        external_id: 'y',
        currency: 'JPY',
        subtotal: 1000,
        tax_amount: '100',
        total_amount: 1100,
      },
      { ...invoice, external_id: 'k', currency: 'KWD', subtotal: '1.005', total_amount: '1.005' },
    ]
    expect(await load('invoices', rows)).toMatchObject({ imported: 2, told: [] })
    expect((await invoices()).map(({ total }) => total).sort((a, b) => a - b)).toEqual([1005, 1100])
  })

  it.each([
    [{ line_items: lines, subtotal: 59 }, 'subtotal is 59, but the line items make 60'],
    [
      { line_items: lines, total_amount: 70 },
      'total_amount is 70, but subtotal - discount_amount + tax_amount is 69.2',
    ],
    [
      { subtotal: 100, total_amount: 99 },
      'total_amount is 99, but subtotal - discount_amount + tax_amount is 100',
    ],
    [{ subtotal: '1.005' }, 'subtotal must be a number with at most 2 decimals in EUR'],
    [{ subtotal: -1 }, 'subtotal must not be negative'],
    [{}, 'subtotal is required where there are no line_items'],
    [{ currency: 'JPY', subtotal: 1.5 }, 'subtotal must be a number with at most 0 decimals in JPY'],
    [{ currency: 'euro', subtotal: 1 }, 'currency must be an ISO 4217 code such as EUR'],
    [{ subtotal: 1, status: 'open' }, 'status must be one of draft, pending, sent'],
    [{ line_items: 'nonsense' }, 'line_items must be a list of line items, as JSON'],
  ])('are rejected with %j', async (wrong, reason) => {
    const { rejected, told } = await load('invoices', [{ ...invoice, ...wrong }])
    expect([rejected, told[0]?.slice(0, reason.length)]).toEqual([1, reason])
  })

  it('read line items from a CSV column', async () => {
    const file = join(folder, 'invoices.csv')
    const cell = JSON.stringify(JSON.stringify(lines)).replaceAll('\\"', '""')
    writeFileSync(
      file,
      `external_id,patient_external_id,invoice_number,issue_date,currency,line_items\ni,1,7,2026-04-01,EUR,${cell}\n`,
    )
    expect(await loadFile('invoices', file)).toMatchObject({ imported: 1, told: [] })
    expect(await invoices()).toMatchObject([{ total: 6920 }])
  })
})

describe('payments', () => {
  beforeEach(() => load('invoices', [{ ...invoice, subtotal: 100 }]))

  it('settle their invoice, in whatever order they come, and stay settled when both come again', async () => {
    const rows = [
      { ...payment, external_id: 1, amount: 30, created_at: '2026-04-05T10:00:00Z' },
      { ...payment, external_id: 2, amount: '70.00', created_at: '2026-04-03T10:00:00Z' },
      { ...payment, external_id: 3, amount: 5, status: 'failed' },
    ]
    await load('payments', rows.slice(0, 1))
    expect(await invoices()).toMatchObject([{ status: 'partially_paid', paid: 3000, paidAt: null }])
    await load('payments', rows)
    expect(await invoices()).toMatchObject([
      { status: 'paid', paid: 10_000, paidAt: '2026-04-05T10:00:00.000Z' },
    ])
    expect(await load('payments', rows)).toMatchObject({ unchanged: 3 })
    expect(await load('invoices', [{ ...invoice, subtotal: 100 }])).toMatchObject({ unchanged: 1 })
    expect(await invoices()).toMatchObject([{ status: 'paid', paid: 10_000 }])
    await load('payments', [{ ...payment, external_id: 4, type: 'refund', amount: 100 }])
    expect(await invoices()).toMatchObject([{ status: 'refunded', paid: 0, paidAt: null }])
  })

  it('settle an invoice with more payments than a transaction holds', async () => {
    const rows = Array.from({ length: 90 }, (_, n) => ({ ...payment, external_id: n, amount: 1 }))
    expect(await load('payments', rows)).toMatchObject({ imported: 90, told: [] })
    expect(await invoices()).toMatchObject([{ status: 'partially_paid', paid: 9000 }])
    expect((await paymentStore(db).page(clinic.id, {}, FIRST)).total).toBe(90)
  })

  it('stay with their invoice, which keeps its number and patient while it has them', async () => {
    await load('payments', [payment])
    await load('invoices', [{ ...invoice, external_id: 'other', subtotal: 100 }])
    expect((await load('payments', [{ ...payment, invoice_external_id: 'other' }])).told).toEqual([
      'invoice_external_id cannot change',
    ])
    expect((await load('invoices', [{ ...invoice, subtotal: 100, invoice_number: '8' }])).told).toEqual([
      'invoice_number cannot change once there are payments',
    ])
    expect((await load('invoices', [{ ...invoice, subtotal: 100, patient_external_id: 2 }])).told).toEqual([
      'patient_external_id cannot change once there are payments',
    ])
    expect((await invoices()).map(({ paid }) => paid).sort()).toEqual([0, 2000])
  })

  it('are all counted when they are made at the same moment', async () => {
    const [bill] = await invoices()
    const pay = (n: number) => {
      const id = newUuid()
      return commitWithRetry(() =>
        settlement(db.table).buildChangeset(clinic.id, bill?.id ?? '', [
          { id, build: (of) => ({ ...paymentOf(of, n), id }) },
        ]),
      )
    }
    await Promise.all(Array.from({ length: 12 }, (_, n) => pay(n)))
    expect(await invoices()).toMatchObject([{ paid: 1200, status: 'partially_paid' }])
  })

  it.each([
    [{ invoice_external_id: 'x' }, 'invoice_external_id is not known: the clinic has no such invoice'],
    [{ amount: 0 }, 'amount must be a positive number with at most 2 decimals in EUR'],
    [{ amount: '1.234' }, 'amount must be a positive number with at most 2 decimals in EUR'],
    [{ currency: 'USD' }, 'currency is not EUR, which the invoice has'],
    [{ payment_method: 'gold' }, 'payment_method must be one of cash, card, bank_transfer, insurance, other'],
  ])('are rejected with %j', async (wrong, reason) => {
    expect(await load('payments', [{ ...payment, ...wrong }])).toMatchObject({
      imported: 0,
      rejected: 1,
      told: [reason],
    })
  })
})

const paymentOf = (of: Invoice, n: number): Payment => ({
  id: newUuid(),
  invoice: { id: of.id, number: of.number },
  patient: { id: of.patient.id, fullName: of.patient.fullName },
  amount: 100,
  currency: of.currency,
  type: 'payment',
  method: 'cash',
  status: 'completed',
  description: null,
  date: '2026-04-02',
  createdAt: new Date(NOW + n).toISOString(),
})

describe('messages', () => {
  it('are listed by the clinic-local day they were accepted on', async () => {
    expect(await load('messages', [message])).toMatchObject({ imported: 1, told: [] })
    const { items } = await messageStore(db).page(clinic.id, { from: '2026-05-01', facet: 'email' }, FIRST)
    expect(items).toMatchObject([
      { acceptedOn: '2026-05-01', text: 'Hello\nAda', status: 'sent', type: 'manual' },
    ])
  })

  it.each([
    [{ channel: 'fax' }, 'channel must be one of sms, email'],
    [{ channel: 'sms', subject: 'x' }, 'subject is for emails only'],
    [{ provider: 'sns' }, 'provider must be sns for sms, ses for email'],
    [{ patient_external_id: 9 }, 'patient_external_id is not known: the clinic has no such patient'],
  ])('are rejected with %j', async (wrong, reason) => {
    expect(await load('messages', [{ ...message, ...wrong }])).toMatchObject({ rejected: 1, told: [reason] })
  })
})

describe('a patient', () => {
  beforeEach(async () => {
    await load('appointments', [{ ...visit, notes: 'has a cough' }])
    await load('invoices', [{ ...invoice, subtotal: 100 }])
    await load('payments', [{ ...payment, description: 'from her brother' }])
    await load('messages', [{ ...message, subject: 'Dear Ada' }])
  })

  const everything = async () => {
    const [appointments, bills, paid, log] = await Promise.all([
      appointmentStore(db).page(clinic.id, {}, FIRST),
      invoiceStore(db).page(clinic.id, {}, FIRST),
      paymentStore(db).page(clinic.id, {}, FIRST),
      messageStore(db).page(clinic.id, {}, FIRST),
    ])
    return [...appointments.items, ...bills.items, ...paid.items, ...log.items]
  }

  it('is renamed wherever its name is shown, in every list', async () => {
    await load('patients', [
      { external_id: 1, first_name: 'Ada', last_name: 'Öz', email_address: 'oz@x.org' },
    ])
    expect((await everything()).map(({ patient }) => patient.fullName)).toEqual(Array(4).fill('Ada Öz'))
    expect(await invoices()).toMatchObject([{ patient: { email: 'oz@x.org' } }])
    const [{ patient }] = (await payments()) as unknown as [{ patient: { id: string } }]
    for (const list of [appointmentStore(db), invoiceStore(db), paymentStore(db), messageStore(db)]) {
      expect((await list.page(clinic.id, { patient: patient.id }, FIRST)).items).toMatchObject([
        { patient: { fullName: 'Ada Öz' } },
      ])
    }
    expect(await copiedNames(db.table).staleOwners(clinic.id)).toEqual([])
  })

  it('is erased wherever it stands, and stays so; totals and amounts stay', async () => {
    const [{ patient }] = (await payments()) as unknown as [{ patient: { id: string } }]
    const search = patientSearch(db)
    await search.search(clinic.id, 'kaya', FIRST)
    await patientChanges(db.table).erase(clinic.id, patient.id, anonymizeResponse)
    await patientChanges(db.table).erase(clinic.id, patient.id, anonymizeResponse)
    const left = JSON.stringify([await everything(), await search.search(clinic.id, '', FIRST)])
    expect(left).not.toMatch(/Ada|Kaya|ada@x|90532|cough|brother|Dear/)
    for (const finder of [search, patientSearch(db)]) {
      for (const query of ['kaya', 'ada@', '4567'])
        expect((await finder.search(clinic.id, query, FIRST)).total).toBe(0)
      expect((await finder.search(clinic.id, 'erased', FIRST)).total).toBe(1)
    }
    expect(await invoices()).toMatchObject([{ total: 10_000, paid: 2000, status: 'partially_paid' }])
    expect(await load('patients', [{ external_id: 1, first_name: 'Ada', last_name: 'Kaya' }])).toMatchObject({
      rejected: 1,
      told: ['the patient was erased'],
    })
    expect(await load('appointments', [visit])).toMatchObject({
      rejected: 1,
      told: ['the patient was erased'],
    })
    const raw = await db.client.send(
      new ScanCommand({
        TableName: db.name,
        FilterExpression: 'begins_with(pk, :clinic)',
        ExpressionAttributeValues: { ':clinic': shortId(clinic.id) },
      }),
    )
    expect(JSON.stringify(raw.Items)).not.toMatch(/Kaya|kaya|ada@x|905321234567|cough|brother|Dear/)
  })

  it('takes its doctor’s new name along', async () => {
    await load('doctors', [{ external_id: 1, full_name: 'Dr. Eva Neu' }])
    expect((await appointmentStore(db).page(clinic.id, {}, FIRST)).items).toMatchObject([
      { doctor: { fullName: 'Dr. Eva Neu' } },
    ])
  })
})
