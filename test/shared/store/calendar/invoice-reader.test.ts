import { expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { invoiceReader } from '../../../../shared/store/calendar/invoice-balance.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { paymentChanges } from '../../../support/payment-changes.ts'
import { anInvoice, aPayment } from '../../../support/sample-records.ts'
import { tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

it('returns an invoice that agrees with its payments when one is paid between the two reads', async () => {
  const clinic = newUuid() as ClinicId
  const id = newUuid()
  const patient = { id: newUuid(), fullName: 'Ada Kaya' }
  const changes = new Changeset(db.table, clinic)
  const unpaid = anInvoice({ id, total: 10_000, patient: { ...patient, email: null }, lineItems: [] })
  invoiceStore(db).change(changes, null, unpaid)
  await changes.commit()
  let isPaid = false
  const pay = async () => {
    if (isPaid) return
    isPaid = true
    const payment = await paymentChanges(db.table, clinic, id, [
      {
        id: newUuid(),
        build: (invoice) => aPayment(invoice, { id: newUuid(), amount: 4000 }),
      },
    ])
    await payment?.commit()
  }
  // The invoice is read before the payment, and the payments after it.
  const isRead = Promise.withResolvers<void>()
  const interrupted: Table = {
    ...db.table,
    get: (key) => db.table.get(key).finally(isRead.resolve),
    query: (range) => isRead.promise.then(pay).then(() => db.table.query(range)),
  }
  const drifts: string[] = []
  const found = await invoiceReader({
    table: interrupted,
    onDrift: (list) => drifts.push(list),
  }).findWithPayments(clinic, id)
  expect(found?.invoice.paid).toBe(4000)
  expect(found?.payments.map(({ amount }) => amount)).toEqual([4000])
  expect(drifts).toEqual(['I'])
})
