/** Which payments a request can record, and which it can void. */
import type { Invoice } from './invoice.ts'
import { type Payment, refundable } from './payment.ts'

/** Why a request cannot record or void a payment. `maximum` is in minor units. */
export type PaymentRejection =
  | { readonly kind: 'invoice_closed' | 'payment_refunded' }
  | { readonly kind: 'amount_exceeds_balance' | 'amount_exceeds_paid'; readonly maximum: number }

/** Why a request cannot add a payment or refund to an invoice with these payments; null if it can. */
export function newPaymentRejection(
  { type, amount }: Pick<Payment, 'type' | 'amount'>,
  { status, total, paid }: Pick<Invoice, 'status' | 'total' | 'paid'>,
  others: readonly Payment[],
): PaymentRejection | null {
  if (type === 'refund') {
    const maximum = Math.max(0, refundable(others))
    return amount > maximum ? { kind: 'amount_exceeds_paid', maximum } : null
  }
  if (status === 'draft' || status === 'cancelled') return { kind: 'invoice_closed' }
  const maximum = Math.max(0, total - paid)
  return amount > maximum ? { kind: 'amount_exceeds_balance', maximum } : null
}

/** Why a request cannot void a payment: refunds must stay covered by what was paid. Null if it can. */
export const voidRejection = (
  { type, status }: Pick<Payment, 'type' | 'status'>,
  others: readonly Payment[],
): PaymentRejection | null =>
  type === 'payment' && status === 'completed' && refundable(others) < 0 ? { kind: 'payment_refunded' } : null
