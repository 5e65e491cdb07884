/** What a payment would do to the balance of its invoice. */
import type { Invoice } from '../../shared/domain/invoice.ts'
import { renderMoney } from '../../shared/domain/money.ts'
import { mayCount, type Payment, signedAmount } from '../../shared/domain/payment.ts'
import type { Warn } from './confirmed-commit.ts'
import { CommandFailure } from './output.ts'

/** Refunds are at most what was paid; more than the total is possible. @throws CommandFailure */
export function checkNewPayment(payment: Payment, invoice: Invoice, today: string, warn: Warn): void {
  const { type, amount, date } = payment
  if (type === 'refund' && mayCount(payment) && amount > invoice.paid)
    throw new CommandFailure(
      `--amount of the refund is ${money(amount, invoice)}, but only ${money(Math.max(0, invoice.paid), invoice)} was paid.`,
    )
  if (type === 'payment' && mayCount(payment)) warnIfOverpaid(invoice.paid + amount, invoice, warn)
  if (date > today) warn(`--date ${date} is ahead of today, which is ${today} at the clinic.`)
}

/** Refunds must stay covered by what was paid; more than the total is possible. @throws CommandFailure */
export function checkVoid(payment: Payment, invoice: Invoice, warn: Warn): void {
  if (payment.status !== 'completed') return
  const paid = invoice.paid - signedAmount(payment)
  if (paid < 0 && payment.type === 'payment')
    throw new CommandFailure(
      `The payment cannot be voided: the refunds of invoice ${invoice.id} would be ${money(-paid, invoice)} more than was paid. Void the refunds first.`,
    )
  if (payment.type === 'refund') warnIfOverpaid(paid, invoice, warn)
}

function warnIfOverpaid(paid: number, invoice: Invoice, warn: Warn): void {
  if (paid > invoice.total)
    warn(
      `Invoice ${invoice.id} would be overpaid: ${money(paid, invoice)} of ${money(invoice.total, invoice)}.`,
    )
}

const money = (minor: number, { currency }: Invoice): string => `${renderMoney(minor, currency)} ${currency}`
