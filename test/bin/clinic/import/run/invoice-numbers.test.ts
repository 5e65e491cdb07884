/** Two invoices of a clinic with one number: imported only if the operator says that both are right. */
import { describe, expect, it } from 'vitest'
import type { InvoiceRequest } from '../../../../../shared/domain/money/invoice-changes.ts'
import { newUuid } from '../../../../../shared/domain/uuid.ts'
import { invoiceChangeStore } from '../../../../../shared/store/calendar/invoice-changes.ts'
import { invoiceCorrection } from '../../../../../shared/store/calendar/invoice-correction.ts'
import { readImportIds } from '../../../../../shared/store/external-ids/derive.ts'
import { ExternalIdTaken } from '../../../../../shared/store/table/errors.ts'
import { UNREQUESTED } from '../../../../../shared/store/table/idempotency.ts'
import type { Table } from '../../../../../shared/store/table/table.ts'
import { importedClinic, invoice, payment } from '../calendar-fixtures.ts'

const imported = importedClinic()
const { load } = imported

const bill = { ...invoice, subtotal: 5 }
const second = { ...bill, external_id: 'j', patient_external_id: 2 }
const ALLOWED = { allowSameNumbers: true }
const idOf = async (externalId: string) =>
  (await readImportIds(imported.db.table, imported.clinic.id))('invoice', externalId)
const inClinic = async () =>
  `invoice_number is the number of invoice ${await idOf('i')}; import the row with --allow-same-numbers if both are right`

/** Creates an invoice as a request does. */
async function createInvoice(facts: Partial<InvoiceRequest>) {
  const { table } = imported.db
  const { id, currency } = imported.clinic
  const request: InvoiceRequest = {
    id: newUuid(),
    patient: (await readImportIds(table, id))('patient', '1'),
    issueDate: '2026-04-01',
    currency,
    lineItems: [{ description: 'Consultation', unitPrice: 5, doctor: null, treatment: null }],
    externalId: null,
    createdAt: new Date().toISOString(),
    ...facts,
  }
  return invoiceChangeStore({ table }).create(id, request, { ...UNREQUESTED, check: () => {} })
}

it('is one invoice that a request creates and a file has by the same external id', async () => {
  const created = await createInvoice({ externalId: 'i', number: '7', status: 'sent' })
  expect(created).toMatchObject({ kind: 'done', invoice: { id: await idOf('i') } })
  const line_items = [{ description: 'Consultation', unit_price: 5 }]
  expect(await load('invoices', [{ ...invoice, line_items }])).toMatchObject({ imported: 0, reasons: [] })
  expect(await load('invoices', [{ ...invoice, line_items, due_date: '2026-05-01' }])).toMatchObject({
    updated: 1,
    reasons: [],
  })
  await expect(createInvoice({ externalId: 'i' })).rejects.toThrow(ExternalIdTaken)
  expect(await imported.invoices()).toMatchObject([{ number: '7', dueDate: '2026-05-01' }])
})

it('keeps the number of an invoice from before that has decomposed accents', async () => {
  const number = 'Reçu'.normalize('NFD')
  await load('invoices', [{ ...bill, invoice_number: 'x' }])
  await invoiceCorrection(imported.db.table).correct(imported.clinic.id, await idOf('i'), { number })
  await load('payments', [{ ...payment, amount: 1 }])
  const row = { ...bill, invoice_number: 'Reçu', due_date: '2026-05-01' }
  expect(await load('invoices', [row], undefined, { overwrite: true })).toMatchObject({
    updated: 1,
    reasons: [],
  })
  expect(await imported.invoices()).toMatchObject([{ number, dueDate: '2026-05-01' }])
  expect(await load('invoices', [{ ...second, invoice_number: number }])).toMatchObject({ imported: 0 })
})

describe('an invoice with the number of another', () => {
  it('is rejected, whether the other is in the file or in the clinic', async () => {
    expect(await load('invoices', [bill, second])).toMatchObject({ imported: 1, reasons: [await inClinic()] })
    expect(await load('invoices', [second])).toMatchObject({ imported: 0, reasons: [await inClinic()] })
    expect(await imported.invoices()).toHaveLength(1)
  })

  it('is rejected if it gets the number by a change', async () => {
    await load('invoices', [bill, { ...second, invoice_number: '8' }])
    expect((await load('invoices', [second])).reasons).toEqual([await inClinic()])
  })

  it('is imported if the other has got another number, also by an earlier row', async () => {
    await load('invoices', [bill])
    expect(await load('invoices', [{ ...bill, invoice_number: '8' }, second])).toMatchObject({
      imported: 1,
      updated: 1,
      reasons: [],
    })
  })

  it.each([
    ['its new number is used', { invoice_number: '8' }],
    ['its amounts are wrong', { invoice_number: '9', total_amount: 77 }],
    ['it was changed in the clinic', { invoice_number: '9' }],
  ])('is rejected if the row that changes the number of the other is: %s', async (why, change) => {
    await load('invoices', [bill, { ...second, invoice_number: '8' }])
    const { db, clinic } = imported
    const patient = (await readImportIds(db.table, clinic.id))('patient', '2')
    if (why.endsWith('in the clinic'))
      await invoiceCorrection(db.table).correct(clinic.id, await idOf('i'), { patient })
    const { reasons } = await load('invoices', [
      { ...bill, ...change },
      { ...bill, external_id: 'k' },
    ])
    expect(reasons).toEqual([expect.any(String), await inClinic()])
  })

  it('is imported with --allow-same-numbers, and its repetition changes nothing without it', async () => {
    expect(await load('invoices', [bill, second], undefined, ALLOWED)).toMatchObject({ imported: 2 })
    expect(await load('invoices', [bill, second])).toMatchObject({ unchanged: 2, reasons: [] })
    expect(await load('invoices', [{ ...second, subtotal: 6 }])).toMatchObject({ updated: 1, reasons: [] })
  })

  it('is rejected if a request takes the number while the file is imported', async () => {
    const { table } = imported.db
    const query: Table['query'] = async (range) => {
      const found = await table.query(range)
      if (range.pk.endsWith('#I')) await createInvoice({ number: bill.invoice_number })
      return found
    }
    expect((await load('invoices', [bill], { ...table, query })).reasons).toEqual([
      expect.stringMatching(/^invoice_number is the number of invoice/),
    ])
    expect(await imported.invoices()).toHaveLength(1)
  })

  it('is looked for only if a file has new numbers', async () => {
    await load('invoices', [bill])
    let reads = 0
    const query: Table['query'] = (range) => {
      if (range.pk.endsWith('#I')) reads++
      return imported.db.table.query(range)
    }
    const counting = { ...imported.db.table, query }
    await load('invoices', [{ ...bill, due_date: '2026-05-01' }], counting)
    expect(reads).toBe(0)
    await load('invoices', [{ ...second, invoice_number: '8' }], counting)
    expect(reads).toBe(1)
  })
})
