import { ApiError, unknownIds } from '../shared/api/errors.ts'
import { createPayment, paymentRejected } from '../shared/api/new-payment.ts'
import { renderPaymentDetails } from '../shared/api/payments.ts'
import { wallClock } from '../shared/domain/clock.ts'
import { checkMoney } from '../shared/domain/money/money.ts'
import { NEW_PAYMENT, type Payment } from '../shared/domain/money/payment.ts'
import { newPaymentRejection } from '../shared/domain/money/payment-rules.ts'
import type { WithUpdatedAt } from '../shared/domain/with-updated-at.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { PatientErased, type PaymentChange } from '../shared/store/calendar/invoice-balance.ts'
import { paymentChangeStore } from '../shared/store/calendar/payment-changes.ts'

const invalid = (field: string, issue: string) => new ApiError('validation', { details: [{ field, issue }] })

export const handler = endpoint(
  createPayment,
  { payments: paymentChangeStore },
  async ({ clinicId, clinic, mayReadRecord, body, now, newId, write }, { payments }) => {
    const id = newId()
    const today = wallClock(now, clinic.timezone).date
    const { payment_date: date = today } = body
    if (date > today) throw invalid('payment_date', 'must not be in the future')
    const build: PaymentChange['build'] = (invoice, _, others) => {
      const { currency, number, patient } = invoice
      const amount = checkMoney(body.amount, currency, true)
      if ('issue' in amount) throw invalid('amount', amount.issue)
      const payment: Payment = {
        ...NEW_PAYMENT,
        id,
        invoice: { id: invoice.id, number },
        patient: { id: patient.id, fullName: patient.fullName },
        amount: amount.units,
        currency,
        type: body.type ?? 'payment',
        method: body.payment_method,
        status: 'completed',
        description: body.description ?? null,
        date,
        createdAt: new Date(now).toISOString(),
      }
      const rejection = newPaymentRejection(payment, invoice, others)
      if (rejection) throw paymentRejected(rejection, currency, mayReadRecord)
      return payment
    }
    const response = (payment: WithUpdatedAt<Payment>) => ({ data: renderPaymentDetails(payment, clinic) })
    const recorded = await payments
      .record(clinicId, body.invoice_id, id, build, write(response))
      .catch((error: Error) => {
        throw error instanceof PatientErased ? new ApiError('invoice_closed') : error
      })
    if (!recorded) throw unknownIds('invoice_not_found', 'invoice_id')
    return response(recorded)
  },
)
