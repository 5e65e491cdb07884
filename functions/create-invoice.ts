import { createInvoice } from '../shared/api/new-invoice.ts'
import { wallClock } from '../shared/domain/clock.ts'
import { invoiceFields, writeInvoice } from '../shared/requests/invoice-change.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { invoiceChangeStore } from '../shared/store/calendar/invoice-changes.ts'

export const handler = endpoint(createInvoice, { invoices: invoiceChangeStore }, (request, { invoices }) => {
  const { clinicId, clinic, body, now, newId } = request
  const invoice = {
    ...invoiceFields(body),
    id: newId(),
    patient: body.patient_id,
    issueDate: body.issue_date ?? wallClock(now, clinic.timezone).date,
    currency: clinic.currency,
    externalId: body.external_id ?? null,
    createdAt: new Date(now).toISOString(),
  }
  return writeInvoice(request, (write) => invoices.create(clinicId, invoice, write))
})
