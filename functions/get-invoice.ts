import { ApiError } from '../shared/api/errors.ts'
import { getInvoice, renderInvoice } from '../shared/api/invoices.ts'
import { renderPayment } from '../shared/api/payments.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { invoiceStore } from '../shared/store/calendar/invoices.ts'
import { paymentStore } from '../shared/store/calendar/payments.ts'

export const handler = endpoint(
  getInvoice,
  { invoices: invoiceStore, payments: paymentStore },
  async ({ clinicId, clinic, path }, { invoices, payments }) => {
    const [invoice, paid] = await Promise.all([
      invoices.find(clinicId, path.id),
      payments.allOf(clinicId, 'invoice', path.id),
    ])
    if (!invoice) throw new ApiError('invoice_not_found')
    return {
      data: {
        ...renderInvoice(invoice.record, clinic),
        payments: paid.map((payment) => renderPayment(payment, clinic)),
      },
    }
  },
)
