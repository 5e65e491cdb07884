import type { ClinicId } from '../../domain/clinic.ts'
import { applyPayments, type Invoice } from '../../domain/invoice.ts'
import type { Payment } from '../../domain/payment.ts'
import { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'
import { invoiceStore } from './invoices.ts'
import { paymentStore } from './payments.ts'

/** A payment to be written: made from its invoice and from what is stored of it, if anything. */
export type PaymentChange = {
  readonly id: string
  readonly build: (invoice: Invoice, before: Payment | null) => Payment
}

/** Payments of one invoice that fit into one transaction with it. */
export const MAX_PAYMENTS = 10

/** Writes payments together with what they make of their invoice. */
export function settlement(table: Table) {
  const invoices = invoiceStore({ table })
  const payments = paymentStore({ table })

  /**
   * The changes of at most {@link MAX_PAYMENTS} payments of one invoice, and the invoice as all its payments then leave it. Every payment
   * changes its invoice's version, so two at a time cannot both be counted from the same state.
   */
  async function buildChangeset(
    clinic: ClinicId,
    invoiceId: string,
    wanted: readonly PaymentChange[],
  ): Promise<Changeset | null> {
    // First the invoice: a payment that is made after it is read changes its version, and this has to read again.
    const invoice = await invoices.find(clinic, invoiceId)
    if (!invoice) return null
    const [stored, all] = await Promise.all([
      payments.findMany(
        clinic,
        wanted.map(({ id }) => id),
      ),
      payments.allOf(clinic, 'invoice', invoiceId),
    ])
    const changes = new Changeset(table, clinic)
    const byId = new Map(all.map((payment) => [payment.id, payment]))
    for (const { id, build } of wanted) {
      const before = stored.get(id) ?? null
      const after = build(invoice.record, before?.record ?? null)
      payments.change(changes, before, after)
      byId.set(id, after)
    }
    invoices.change(changes, invoice, applyPayments(invoice.record, [...byId.values()]))
    return changes
  }

  return { buildChangeset }
}
