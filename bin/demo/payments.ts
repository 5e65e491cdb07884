import { addDays } from '../../shared/domain/clock.ts'
import { renderMoney } from '../../shared/domain/money/money.ts'
import type { PaymentStep } from './invoice-outcomes.ts'
import type { Bill } from './invoices.ts'
import type { Practice } from './practice.ts'
import { earlier, timestamp } from './practice.ts'
import { deck, seeded } from './random.ts'

/** Payments and refunds of the invoices. */
export function paymentsOf(practice: Practice, bills: readonly Bill[]) {
  const { currency, offset, today } = practice
  const random = seeded(practice.seed + 2)
  const atDesk = deck(random, { card: 20, cash: 14, bank_transfer: 2, other: 1 })
  const payments = []
  for (const bill of bills) {
    const ledger = newLedger(bill.total)
    let { issue_date: date } = bill.row
    let minutes = bill.issuedAt
    for (const step of bill.steps) {
      const days = step.daysAfter === undefined ? 0 : random.integer(1, 2 * step.daysAfter)
      const next = earlier(addDays(date, days), addDays(today, -1))
      minutes = next === date ? minutes + random.integer(1, 9) : random.integer(9 * 60, 17 * 60)
      date = next
      payments.push({
        external_id: `y${payments.length + 1}`,
        invoice_external_id: bill.row.external_id,
        amount: renderMoney(ledger.apply(step), currency),
        type: step.type ?? 'payment',
        payment_method: step.method ?? atDesk(),
        status: step.status ?? 'completed',
        description: step.description ?? null,
        payment_date: date,
        created_at: timestamp(date, minutes, offset),
      })
    }
  }
  return payments
}

/** Tracks the balance of an invoice, in minor units. */
function newLedger(total: number) {
  let paid = 0
  const amountOf = ({ share, type }: PaymentStep): number => {
    if (share === undefined) return type === 'refund' ? paid : total - paid
    // Partial payments are round amounts.
    return share === 1 ? total : Math.max(1, Math.round((total * share) / 100)) * 100
  }
  return {
    apply(step: PaymentStep): number {
      const amount = amountOf(step)
      if ((step.status ?? 'completed') === 'completed') paid += step.type === 'refund' ? -amount : amount
      return amount
    },
  }
}
