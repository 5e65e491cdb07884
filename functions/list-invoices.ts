import { invoiceFilter, listInvoices, renderInvoice } from '../shared/api/invoices.ts'
import { readFilteredList } from '../shared/requests/record-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { invoiceStore } from '../shared/store/calendar/invoices.ts'

export const handler = endpoint(
  listInvoices,
  { invoices: invoiceStore },
  async ({ clinic, query, now }, { invoices }) => {
    return readFilteredList('invoices', { clinic, query, now }, invoices, invoiceFilter(query), renderInvoice)
  },
)
