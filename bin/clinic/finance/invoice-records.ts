/** The commands that read invoices. */
import { invoiceFilter, listInvoices, renderInvoice } from '../../../shared/api/invoices.ts'
import { renderPayment } from '../../../shared/api/payments.ts'
import type { Invoice } from '../../../shared/domain/money/invoice.ts'
import type { WithUpdatedAt } from '../../../shared/domain/with-updated-at.ts'
import { invoiceReader } from '../../../shared/store/calendar/invoice-balance.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { formatAmount } from '../records/amount-text.ts'
import { eachRecord } from '../records/change-record.ts'
import { findOfPatients, NAME_OR_CONTACT } from '../records/records-of-patients.ts'
import { type ResourceCommands, readStore } from '../records/resource-commands.ts'
import type { ClinicContext } from '../tool/connection.ts'

/** The invoices with exactly this number. */
export async function invoicesWithNumber(
  { table, clinic }: ClinicContext,
  number: string,
): Promise<WithUpdatedAt<Invoice>[]> {
  const found: WithUpdatedAt<Invoice>[] = []
  for await (const invoice of eachRecord(invoiceStore({ table }), clinic.id, { number })) found.push(invoice)
  return found
}

export const invoices: ResourceCommands<ReturnType<typeof renderInvoice>> = {
  group: 'invoice',
  noun: 'invoice',
  plural: 'invoices',
  imported: 'invoice',
  list: {
    query: listInvoices.query,
    read: readStore('invoices', invoiceStore, invoiceFilter, renderInvoice),
  },
  show: async ({ table, clinic }, id) => {
    const found = await invoiceReader({ table }).findWithPayments(clinic.id, id)
    return (
      found && {
        ...renderInvoice(found.invoice, clinic),
        payments: found.payments.map((payment) => renderPayment(payment, clinic)),
      }
    )
  },
  searched: `the number, or the patient's ${NAME_OR_CONTACT}`,
  find: async (context, text) => {
    const numbered = await invoicesWithNumber(context, text.trim())
    if (numbered.length > 0)
      return { data: numbered.map((invoice) => renderInvoice(invoice, context.clinic)) }
    return findOfPatients(context, text, invoiceStore, renderInvoice)
  },
  cells: ({ invoice_number, issue_date, status, total_amount, balance_due, currency, patient }) => [
    invoice_number,
    issue_date,
    status,
    `${formatAmount(total_amount, currency)} ${currency}`,
    `due ${formatAmount(balance_due, currency)}`,
    patient.full_name,
  ],
}
