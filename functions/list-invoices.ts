import { listInvoices, renderInvoice } from '../shared/api/invoices.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { invoiceStore } from '../shared/store/calendar/invoices.ts'

export const handler = endpoint(
  listInvoices,
  { invoices: invoiceStore },
  async ({ clinicId, clinic, query }, { invoices }) => {
    const { patient_id: patient, status, from, to } = query
    const page = await invoices.page(clinicId, { patient, facet: status, from, to }, query)
    return renderPage(page, query, (invoice) => renderInvoice(invoice, clinic))
  },
)
