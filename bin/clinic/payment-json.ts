import { renderPayment } from '../../shared/api/payments.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Payment } from '../../shared/domain/payment.ts'
import type { Stamped } from '../../shared/domain/stamped.ts'

/** A payment as the operator sees it: also why it was voided. */
export const paymentJson = (payment: Stamped<Payment>, clinic: Clinic) => ({
  ...renderPayment(payment, clinic),
  void_reason: payment.voidReason,
})
