import { listInvoicePayments, renderPayment } from '../shared/api/payments.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { invoiceStore } from '../shared/store/calendar/invoices.ts'
import { paymentStore } from '../shared/store/calendar/payments.ts'

export const handler = endpoint(
  listInvoicePayments,
  { invoices: invoiceStore, payments: paymentStore },
  async ({ clinicId, clinic, path, query }, { invoices, payments }) => {
    const { status: facets, from, to, order } = query
    const [invoice, page] = await Promise.all([
      invoices.find(clinicId, path.id),
      payments.page(clinicId, { invoice: path.id, facets, from, to, order }, query),
    ])
    if (!invoice) return null
    return renderPage(page, query, (payment) => renderPayment(payment, clinic))
  },
)
