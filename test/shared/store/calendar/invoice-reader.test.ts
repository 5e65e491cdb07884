import { expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { NEW_PAYMENT } from '../../../../shared/domain/money/payment.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { invoiceBalance, invoiceReader } from '../../../../shared/store/calendar/invoice-balance.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

it('returns an invoice that agrees with its payments when one is paid between the two reads', async () => {
  const clinic = newUuid() as ClinicId
  const id = newUuid()
  const patient = { id: newUuid(), fullName: 'Ada Kaya' }
  const changes = new Changeset(db.table, clinic)
  invoiceStore(db).change(changes, null, {
    id,
    number: '7',
    clinicStatus: 'sent',
    status: 'sent',
    issueDate: '2026-05-01',
    dueDate: null,
    paidAt: null,
    clinicPaidAt: null,
    currency: 'EUR',
    subtotal: 10_000,
    tax: 0,
    discount: 0,
    total: 10_000,
    paid: 0,
    patient: { ...patient, email: null },
    lineItems: [],
    createdAt: '2026-05-01T00:00:00.000Z',
  })
  await changes.commit()
  let isPaid = false
  const pay = async () => {
    if (isPaid) return
    isPaid = true
    const payment = await invoiceBalance(db.table).buildChangeset(clinic, id, [
      {
        id: newUuid(),
        build: (invoice) => ({
          ...NEW_PAYMENT,
          id: newUuid(),
          invoice: { id, number: invoice.number },
          patient,
          amount: 4000,
          currency: 'EUR',
          type: 'payment',
          method: 'card',
          status: 'completed',
          description: null,
          date: '2026-05-02',
          createdAt: '2026-05-02T00:00:00.000Z',
        }),
      },
    ])
    await payment?.commit()
  }
  // The invoice is read before the payment, and the payments after it.
  const interrupted: Table = { ...db.table, query: (range) => pay().then(() => db.table.query(range)) }
  const drifts: string[] = []
  const found = await invoiceReader({
    table: interrupted,
    onDrift: (list) => drifts.push(list),
  }).findWithPayments(clinic, id)
  expect(found?.invoice.paid).toBe(4000)
  expect(found?.payments.map(({ amount }) => amount)).toEqual([4000])
  expect(drifts).toEqual(['I'])
})
