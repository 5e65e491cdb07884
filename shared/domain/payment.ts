import type { PersonReference } from './appointment.ts'

export const PAYMENT_TYPES = ['payment', 'refund'] as const
export const PAYMENT_METHODS = ['cash', 'card', 'bank_transfer', 'insurance', 'other'] as const
export const PAYMENT_STATUSES = ['pending', 'completed', 'failed', 'refunded'] as const

export type PaymentType = (typeof PAYMENT_TYPES)[number]
export type PaymentMethod = (typeof PAYMENT_METHODS)[number]
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/** Money taken or given back for one invoice. */
export type Payment = {
  readonly id: string
  readonly invoice: { readonly id: string; readonly number: string }
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
  /** ISO 8601 instant. */
  readonly createdAt: string
}
