import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { WRITE_UNITS } from './bounds.ts'
import { invoiceOf } from './build-clinic.ts'
import type { MeteredTable } from './meter.ts'
import { createClinic, newPatient } from './records.ts'

/** Measures the table cost of an invoice, and of finding it by its number. */
export async function measureInvoices(unmeasured: Table, { table, add }: MeteredTable): Promise<void> {
  const clinic = await createClinic(unmeasured)
  const invoices = invoiceStore({ table })
  const invoice = invoiceOf(newPatient(), '2026-05-04')
  await add('create an invoice (write units)', { units: WRITE_UNITS.invoice, roundTrips: 1 }, async () => {
    const changes = new Changeset(table, clinic)
    invoices.change(changes, null, invoice)
    await changes.commit()
  })
  await add('find it by its number', { units: 3, roundTrips: 2 }, () =>
    invoices.page(clinic, { number: invoice.number }, { page: 1, limit: 20 }),
  )
}
