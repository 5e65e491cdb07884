import { updateInvoice } from '../shared/api/new-invoice.ts'
import { invoiceFields, writeInvoice } from '../shared/requests/invoice-change.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { invoiceChangeStore } from '../shared/store/calendar/invoice-changes.ts'

export const handler = endpoint(updateInvoice, { invoices: invoiceChangeStore }, (request, { invoices }) => {
  const { clinicId, path, body } = request
  return writeInvoice(request, (write) => invoices.change(clinicId, path.id, invoiceFields(body), write))
})
