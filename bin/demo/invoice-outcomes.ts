/** Outcomes of invoices: their status and payments. */
import type { InvoiceStatus } from '../../shared/domain/money/invoice.ts'
import type { PaymentMethod, PaymentStatus, PaymentType } from '../../shared/domain/money/payment.ts'
import { deck, type SeededRandom } from './random.ts'

/** One payment. Without a share, a payment covers the balance due and a refund the paid amount. */
export type PaymentStep = {
  readonly share?: number
  readonly type?: PaymentType
  readonly status?: PaymentStatus
  /** Defaults to a random method used at the desk. */
  readonly method?: PaymentMethod
  /** Approximate number of days after the previous payment. */
  readonly daysAfter?: number
  readonly description?: string
}

type InvoiceOutcome = { readonly status: InvoiceStatus; readonly steps: readonly PaymentStep[] }

const DECLINED = 'Declined by the bank of the card'

const OUTCOMES = {
  at_desk: { status: 'paid', steps: [{}] },
  later: { status: 'paid', steps: [{ method: 'bank_transfer', daysAfter: 12 }] },
  insured: {
    status: 'paid',
    steps: [{ share: 0.2 }, { method: 'insurance', daysAfter: 18, description: 'Share of the insurer' }],
  },
  instalments: {
    status: 'paid',
    steps: [
      { share: 0.4, description: 'First of two instalments' },
      { daysAfter: 30, description: 'Second of two instalments' },
    ],
  },
  second_try: {
    status: 'paid',
    steps: [{ method: 'card', status: 'failed', description: DECLINED }, {}],
  },
  charged_twice: {
    status: 'paid',
    steps: [
      { method: 'card' },
      { share: 1, method: 'card', status: 'refunded', description: 'Charged twice by mistake, reversed' },
    ],
  },
  to_be_refunded: {
    status: 'paid',
    steps: [{}, { share: 0.5, type: 'refund', status: 'pending', method: 'bank_transfer', daysAfter: 9 }],
  },
  partly_paid: { status: 'partially_paid', steps: [{ share: 0.5, description: 'Down payment' }] },
  partly_refunded: {
    status: 'partially_paid',
    steps: [{}, { share: 0.3, type: 'refund', daysAfter: 5, description: 'As a courtesy' }],
  },
  refunded: {
    status: 'refunded',
    steps: [
      { method: 'card' },
      { type: 'refund', method: 'card', daysAfter: 6, description: 'Billed to the wrong patient' },
    ],
  },
  overdue: { status: 'overdue', steps: [] },
  declined: {
    status: 'overdue',
    steps: [{ method: 'card', status: 'failed', daysAfter: 14, description: DECLINED }],
  },
  cancelled: { status: 'cancelled', steps: [] },
  sent: { status: 'sent', steps: [] },
  transfer: { status: 'sent', steps: [{ method: 'bank_transfer', status: 'pending', daysAfter: 2 }] },
  insurer: { status: 'pending', steps: [{ method: 'insurance', status: 'pending', daysAfter: 1 }] },
  draft: { status: 'draft', steps: [] },
} as const satisfies Record<string, InvoiceOutcome>

/** Deals outcomes of invoices, separately for those that are due and those that are not. */
export function outcomeDealer(random: SeededRandom): (isDue: boolean) => InvoiceOutcome {
  const due = deck(random, {
    at_desk: 36,
    later: 6,
    insured: 4,
    instalments: 2,
    second_try: 1,
    charged_twice: 1,
    to_be_refunded: 1,
    partly_paid: 3,
    partly_refunded: 1,
    refunded: 1,
    overdue: 3,
    declined: 1,
    cancelled: 2,
  })
  const open = deck(random, { at_desk: 4, sent: 1, transfer: 1, insurer: 1, draft: 1, partly_paid: 1 })
  return (isDue) => OUTCOMES[isDue ? due() : open()]
}
