import { cancelInvoice } from '../shared/api/new-invoice.ts'
import { writeInvoice } from '../shared/requests/invoice-change.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { invoiceChangeStore } from '../shared/store/calendar/invoice-changes.ts'

export const handler = endpoint(cancelInvoice, { invoices: invoiceChangeStore }, (request, { invoices }) =>
  writeInvoice(request, (write) => invoices.act(request.clinicId, request.path.id, 'cancel', write)),
)
