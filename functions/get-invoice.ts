import { ApiError } from '../shared/api/errors.ts'
import { getInvoice, renderInvoice } from '../shared/api/invoices.ts'
import { renderPayment } from '../shared/api/payments.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { invoiceReader } from '../shared/store/calendar/invoice-balance.ts'

export const handler = endpoint(
  getInvoice,
  { invoices: invoiceReader },
  async ({ clinicId, clinic, path }, { invoices }) => {
    const found = await invoices.findWithPayments(clinicId, path.id)
    if (!found) throw new ApiError('invoice_not_found')
    const payments = found.payments.map((payment) => renderPayment(payment, clinic))
    return { data: { ...renderInvoice(found.invoice, clinic), payments } }
  },
)
