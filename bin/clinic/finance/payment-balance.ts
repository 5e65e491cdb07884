/** The effect that a payment would have on the balance of its invoice. */
import type { Invoice } from '../../../shared/domain/money/invoice.ts'
import { mayCount, type Payment, refundable, sumOfPayments } from '../../../shared/domain/money/payment.ts'
import { newPaymentRejection, voidRejection } from '../../../shared/domain/money/payment-rules.ts'
import { formatMinor } from '../records/record-text.ts'
import type { Warn } from '../tool/confirmation.ts'
import { CommandFailure } from '../tool/output.ts'

/** An invoice, and its payments besides the one that is added or voided. */
export type Balance = { readonly invoice: Invoice; readonly others: readonly Payment[] }

/** Refunds are at most what was paid, with those that are pending; more than the total is possible. @throws CommandFailure */
export function checkNewPayment(payment: Payment, balance: Balance, today: string, warn: Warn): void {
  const { type, amount, date } = payment
  if (type === 'refund' && mayCount(payment)) requirePaid(payment, balance)
  if (type === 'payment' && mayCount(payment)) warnIfOverpaid(expected(balance) + amount, balance, warn)
  if (date > today) warn(`--date ${date} is ahead of today, which is ${today} at the clinic.`)
}

/** Refunds must stay covered by what was paid; more than the total is possible. @throws CommandFailure */
export function checkVoid(payment: Payment, balance: Balance, warn: Warn): void {
  const { invoice, others } = balance
  if (voidRejection(payment, others))
    throw new CommandFailure(
      `The payment cannot be voided: the refunds of invoice ${invoice.id} would be ${money(-refundable(others), invoice)} more than was paid. Void the refunds first.`,
    )
  if (payment.type === 'refund' && mayCount(payment)) warnIfOverpaid(expected(balance), balance, warn)
}

function requirePaid(refund: Payment, { invoice, others }: Balance): void {
  if (!newPaymentRejection(refund, invoice, others)) return
  const received = Math.max(0, sumOfPayments(others.filter(({ status }) => status === 'completed')))
  const pending = -sumOfPayments(
    others.filter(({ type, status }) => type === 'refund' && status === 'pending'),
  )
  const besides = pending > 0 ? `, and refunds of ${money(pending, invoice)} are pending` : ''
  throw new CommandFailure(
    `--amount of the refund is ${money(refund.amount, invoice)}, but only ${money(received, invoice)} was paid${besides}.`,
  )
}

/** The paid amount after the pending payments and refunds are completed. */
const expected = ({ others }: Balance): number => sumOfPayments(others.filter(mayCount))

function warnIfOverpaid(amount: number, { invoice }: Balance, warn: Warn): void {
  if (amount > invoice.total)
    warn(
      `Invoice ${invoice.id} would be overpaid: ${money(amount, invoice)} of ${money(invoice.total, invoice)}.`,
    )
}

const money = (minor: number, { currency }: Invoice): string => formatMinor(minor, currency)
