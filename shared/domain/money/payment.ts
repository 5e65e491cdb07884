import { PATIENT_REFERENCE_FIELDS, type PersonReference } from '../booking/appointment.ts'
import { copied, eraseBy, eraseTo, type FieldPolicies, KEEP } from '../field-policy.ts'
import { sumOf } from './money.ts'

export const PAYMENT_TYPES = ['payment', 'refund'] as const
export const PAYMENT_METHODS = ['cash', 'card', 'bank_transfer', 'insurance', 'other'] as const
export const PAYMENT_STATUSES = ['pending', 'completed', 'failed', 'refunded'] as const

export type PaymentType = (typeof PAYMENT_TYPES)[number]
export type PaymentMethod = (typeof PAYMENT_METHODS)[number]
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/** An invoice as its payments name it: copied, so that a list needs no further read. */
export type InvoiceReference = { readonly id: string; readonly number: string }

/** A payment or refund for one invoice. */
export type Payment = {
  readonly id: string
  readonly invoice: InvoiceReference
  readonly patient: PersonReference
  /** Minor units of the currency, positive for refunds too. */
  readonly amount: number
  readonly currency: string
  readonly type: PaymentType
  readonly method: PaymentMethod
  readonly status: PaymentStatus
  readonly description: string | null
  /** Clinic-local `Y-m-d`. */
  readonly date: string
  /** ISO 8601 instant at which it was voided, because it was recorded by mistake. Its status is then `failed`. */
  readonly voidedAt: string | null
  /** Why it was voided. Lists do not have it. */
  readonly voidReason: string | null
  /** ISO 8601 instant. */
  readonly createdAt: string
}

export const NEW_PAYMENT = { voidedAt: null, voidReason: null } as const satisfies Partial<Payment>

/** Replaces the number of an erased patient's invoice: numbers are the clinic's own text and may hold a name. */
export const erasedInvoiceNumber = ({ id }: { readonly id: string }): string => `ERASED-${id}`

const INVOICE_REFERENCE_FIELDS = {
  id: KEEP,
  number: copied(eraseBy(erasedInvoiceNumber)),
} satisfies FieldPolicies<InvoiceReference>

export const PAYMENT_FIELDS = {
  id: KEEP,
  invoice: { fields: INVOICE_REFERENCE_FIELDS },
  patient: { fields: PATIENT_REFERENCE_FIELDS },
  amount: KEEP,
  currency: KEEP,
  type: KEEP,
  method: KEEP,
  status: KEEP,
  description: eraseTo(null),
  date: KEEP,
  voidedAt: KEEP,
  voidReason: eraseTo(null),
  createdAt: KEEP,
} satisfies FieldPolicies<Payment>

/** The amount that a completed payment adds to the paid amount of its invoice; negative for a refund. */
const signedAmount = ({ type, amount }: Pick<Payment, 'type' | 'amount'>): number =>
  type === 'refund' ? -amount : amount

/** Payments less refunds, whatever their status. */
export const sumOfPayments = (payments: readonly Payment[]): number => sumOf(payments.map(signedAmount))

/** Whether a payment counts, or will once it is completed. */
export const mayCount = ({ status }: Pick<Payment, 'status'>): boolean =>
  status === 'completed' || status === 'pending'

/** What can be refunded of the payments of an invoice. Refunds count while they are pending, payments do not; below zero, too much was refunded. */
export const refundable = (payments: readonly Payment[]): number =>
  sumOfPayments(
    payments.filter(
      ({ type, status }) => status === 'completed' || (type === 'refund' && status === 'pending'),
    ),
  )

/** The payment as it remains once it is voided; null for a failed one, which counts nothing already. */
export const voidPayment = (payment: Payment, voidedAt: string, voidReason: string | null): Payment | null =>
  payment.status === 'failed' ? null : { ...payment, status: 'failed', voidedAt, voidReason }
