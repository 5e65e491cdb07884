import { getInvoice, renderInvoiceDetails } from '../shared/api/invoices.ts'
import { expandPatient } from '../shared/requests/expand-patients.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { invoiceReader } from '../shared/store/calendar/invoice-balance.ts'
import { patientStore } from '../shared/store/patients/patients.ts'

export const handler = endpoint(
  getInvoice,
  { patients: patientStore, invoices: invoiceReader },
  async ({ clinicId, clinic, path, query }, { patients, invoices }) => {
    const found = await invoices.findWithPayments(clinicId, path.id)
    if (!found) return null
    const rendered = renderInvoiceDetails(found.invoice, found.payments, clinic)
    return { data: await expandPatient(patients, { clinic, query }, rendered) }
  },
)
