import { listPayments, renderPayment } from '../shared/api/payments.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { readFilteredList } from '../shared/runtime/record-list.ts'
import { paymentStore } from '../shared/store/calendar/payments.ts'

export const handler = endpoint(
  listPayments,
  { payments: paymentStore },
  async ({ clinic, query, now }, { payments }) => {
    const { patient_id: patient, invoice_id: invoice, status, from, to } = query
    const filter = { patient, invoice, facet: status, from, to }
    return readFilteredList('payments', { clinic, query, now }, payments, filter, renderPayment)
  },
)
