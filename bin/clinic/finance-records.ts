/** The commands that read invoices and payments. */
import { invoiceFilter, listInvoices, renderInvoice } from '../../shared/api/invoices.ts'
import { listPayments, paymentFilter, renderPayment } from '../../shared/api/payments.ts'
import { readFilteredList } from '../../shared/runtime/record-list.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../shared/store/calendar/payments.ts'
import { invoiceReader } from '../../shared/store/calendar/settlement.ts'
import { paymentJson } from './payment-json.ts'
import type { RecordKind } from './record-commands.ts'
import { findOfPatients, invoicesWithNumber, NAME_OR_CONTACT } from './records-of-patients.ts'

type Invoice = ReturnType<typeof renderInvoice>
type Payment = ReturnType<typeof renderPayment>

export const invoices: RecordKind<Invoice> = {
  group: 'invoice',
  noun: 'invoice',
  plural: 'invoices',
  imported: 'invoice',
  list: {
    query: listInvoices.query,
    read: ({ table, clinic }, query) =>
      readFilteredList(
        'invoices',
        { clinic, query, now: Date.now() },
        invoiceStore({ table }),
        invoiceFilter(query),
        renderInvoice,
      ),
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
  find: async (place, text) => {
    const store = invoiceStore(place)
    const render = (record: Parameters<typeof renderInvoice>[0]) => renderInvoice(record, place.clinic)
    const numbered = await invoicesWithNumber(store, place.clinic.id, text.trim())
    if (numbered.length > 0) return { data: numbered.map(render) }
    return findOfPatients(place, text, store, render)
  },
  cells: ({ invoice_number, issue_date, status, total_amount, balance_due, currency, patient }) => [
    invoice_number,
    issue_date,
    status,
    `${total_amount} ${currency}`,
    `due ${balance_due}`,
    patient.full_name,
  ],
}

export const payments: RecordKind<Payment> = {
  group: 'payment',
  noun: 'payment',
  plural: 'payments',
  imported: 'payment',
  list: {
    query: listPayments.query,
    read: ({ table, clinic }, query) =>
      readFilteredList(
        'payments',
        { clinic, query, now: Date.now() },
        paymentStore({ table }),
        paymentFilter(query),
        renderPayment,
      ),
  },
  show: async ({ table, clinic }, id) => {
    const found = await paymentStore({ table }).find(clinic.id, id)
    return found && paymentJson(found.record, clinic)
  },
  searched: `the patient's ${NAME_OR_CONTACT}`,
  find: (place, text) =>
    findOfPatients(place, text, paymentStore(place), (record) => renderPayment(record, place.clinic)),
  cells: ({ payment_date, type, status, amount, currency, payment_method, invoice_number, patient }) => [
    payment_date,
    type,
    status,
    `${amount} ${currency}`,
    payment_method,
    `invoice ${invoice_number}`,
    patient.full_name,
  ],
}
