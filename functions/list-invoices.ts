import { listInvoices, renderInvoice } from '../shared/api/invoices.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { readFilteredList } from '../shared/runtime/record-list.ts'
import { invoiceStore } from '../shared/store/calendar/invoices.ts'

export const handler = endpoint(
  listInvoices,
  { invoices: invoiceStore },
  async ({ clinic, query, now }, { invoices }) => {
    const { patient_id: patient, status, from, to } = query
    const filter = { patient, facet: status, from, to }
    return readFilteredList('invoices', { clinic, query, now }, invoices, filter, renderInvoice)
  },
)
