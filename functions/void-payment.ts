import { ApiError } from '../shared/api/errors.ts'
import { paymentRejected, voidPayment as route } from '../shared/api/new-payment.ts'
import { renderPaymentDetails } from '../shared/api/payments.ts'
import { type Payment, voidPayment } from '../shared/domain/money/payment.ts'
import { voidRejection } from '../shared/domain/money/payment-rules.ts'
import type { WithUpdatedAt } from '../shared/domain/with-updated-at.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { ImpossibleBalance, TOO_LARGE } from '../shared/store/calendar/invoice-balance.ts'
import { paymentChangeStore } from '../shared/store/calendar/payment-changes.ts'

export const handler = endpoint(
  route,
  { payments: paymentChangeStore },
  async ({ clinicId, clinic, path, body, now, write }, { payments }) => {
    const voided = (before: Payment, others: readonly Payment[]): Payment | null => {
      const rejection = voidRejection(before, others)
      if (rejection) throw paymentRejected(rejection, before.currency)
      return voidPayment(before, new Date(now).toISOString(), body.reason ?? null)
    }
    const response = (payment: WithUpdatedAt<Payment>) => ({ data: renderPaymentDetails(payment, clinic) })
    const payment = await payments.void(clinicId, path.id, voided, write(response)).catch((error: Error) => {
      throw error instanceof ImpossibleBalance
        ? new ApiError('validation', { details: [{ field: 'amount', issue: TOO_LARGE }] })
        : error
    })
    return payment && response(payment)
  },
)
