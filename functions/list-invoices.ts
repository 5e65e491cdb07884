import { invoiceFilter, listInvoices, renderInvoice } from '../shared/api/invoices.ts'
import { expandPatients } from '../shared/requests/expand-patients.ts'
import { readFilteredList } from '../shared/requests/record-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { invoiceStore } from '../shared/store/calendar/invoices.ts'
import { patientStore } from '../shared/store/patients/patients.ts'

export const handler = endpoint(
  listInvoices,
  { patients: patientStore, invoices: invoiceStore },
  async ({ clinic, query, now }, { patients, invoices }) => {
    const page = await readFilteredList(
      'invoices',
      { clinic, query, now },
      invoices,
      invoiceFilter(query),
      renderInvoice,
    )
    return { ...page, data: await expandPatients(patients, { clinic, query }, page.data) }
  },
)
