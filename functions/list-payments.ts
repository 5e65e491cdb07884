import { listPayments, renderPayment } from '../shared/api/payments.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { paymentStore } from '../shared/store/calendar/payments.ts'

export const handler = endpoint(
  listPayments,
  { payments: paymentStore },
  async ({ clinicId, clinic, query }, { payments }) => {
    const { patient_id: patient, invoice_id: invoice, status, from, to } = query
    const page = await payments.page(clinicId, { patient, invoice, facet: status, from, to }, query)
    return renderPage(page, query, (payment) => renderPayment(payment, clinic))
  },
)
