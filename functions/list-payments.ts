import { listPayments, renderPayment } from '../shared/api/payments.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { readRecordList } from '../shared/runtime/record-list.ts'
import { paymentStore } from '../shared/store/calendar/payments.ts'

export const handler = endpoint(
  listPayments,
  { payments: paymentStore },
  async ({ clinicId, clinic, query, now }, { payments }) => {
    const { patient_id: patient, invoice_id: invoice, status, from, to } = query
    const filter = { patient, invoice, facet: status, from, to }
    return readRecordList(
      'payments',
      { clinic, query, now },
      {
        page: (request) => payments.page(clinicId, filter, request),
        after: (position, limit) => payments.after(clinicId, filter, position, limit),
        changes: (range, limit) => payments.changes(clinicId, range, limit),
      },
      (payment) => renderPayment(payment, clinic),
    )
  },
)
