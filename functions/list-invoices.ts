import { listInvoices, renderInvoice } from '../shared/api/invoices.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { readRecordList } from '../shared/runtime/record-list.ts'
import { invoiceStore } from '../shared/store/calendar/invoices.ts'

export const handler = endpoint(
  listInvoices,
  { invoices: invoiceStore },
  async ({ clinicId, clinic, query, now }, { invoices }) => {
    const { patient_id: patient, status, from, to } = query
    const filter = { patient, facet: status, from, to }
    return readRecordList(
      'invoices',
      { clinic, query, now },
      {
        page: (request) => invoices.page(clinicId, filter, request),
        after: (position, limit) => invoices.after(clinicId, filter, position, limit),
        changes: (range, limit) => invoices.changes(clinicId, range, limit),
      },
      (invoice) => renderInvoice(invoice, clinic),
    )
  },
)
