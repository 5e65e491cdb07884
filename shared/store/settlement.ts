import type { ClinicId } from '../domain/clinic.ts'
import { type Invoice, settled } from '../domain/invoice.ts'
import type { Payment } from '../domain/payment.ts'
import type { Stored } from './calendar-list.ts'
import { Changeset } from './changeset.ts'
import { invoiceStore } from './invoices.ts'
import { paymentStore } from './payments.ts'
import type { Table } from './table.ts'

/** Makes a payment of an invoice from what is stored of it, if anything. */
export type MakePayment = (invoice: Invoice, before: Stored<Payment> | null) => Payment

/** Writes payments together with what they make of their invoice. */
export function settlement(table: Table) {
  const invoices = invoiceStore({ table })
  const payments = paymentStore({ table })

  /**
   * The changes of some payments of one invoice, and the invoice as all its payments then leave it. Every payment
   * changes its invoice's version, so two at a time cannot both be counted from the same state.
   */
  async function changesOf(
    clinic: ClinicId,
    invoiceId: string,
    ids: readonly string[],
    make: readonly MakePayment[],
  ): Promise<Changeset | null> {
    const [invoice, stored, all] = await Promise.all([
      invoices.find(clinic, invoiceId),
      payments.findMany(clinic, ids),
      payments.allOf(clinic, 'invoice', invoiceId),
    ])
    if (!invoice) return null
    const changes = new Changeset(table, clinic)
    const byId = new Map(all.map((payment) => [payment.id, payment]))
    for (const [index, id] of ids.entries()) {
      const before = stored.get(id) ?? null
      const after = make[index]?.(invoice.record, before)
      if (!after) continue
      payments.change(changes, before, after)
      byId.set(id, after)
    }
    invoices.change(changes, invoice, settled(invoice.record, [...byId.values()]))
    return changes
  }

  return { changesOf }
}
