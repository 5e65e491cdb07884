import { oneOf, RecordDate } from '../../../shared/api/schemas.ts'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import { currencyDecimals } from '../../../shared/domain/money/currencies.ts'
import type { Invoice } from '../../../shared/domain/money/invoice.ts'
import { isTooLarge, parseDecimal } from '../../../shared/domain/money/money.ts'
import {
  NEW_PAYMENT,
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  PAYMENT_TYPES,
  type Payment,
} from '../../../shared/domain/money/payment.ts'
import { singleLineText } from '../../../shared/domain/patients/text-fields.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { CommandFailure, parseOption } from '../tool/output.ts'

export type NewPaymentOptions = {
  invoice: string
  amount: string
  method: string
  type: string
  status: string
  date?: string
  description?: string
  externalId?: string
}

/** The payment that the options describe. @throws CommandFailure */
export function paymentOf(
  given: NewPaymentOptions,
  id: string,
  invoice: Invoice,
  clinic: ClinicInfo,
): Payment {
  const amount = amountOf(given, invoice.currency)
  const createdAt = new Date().toISOString()
  return {
    ...NEW_PAYMENT,
    id,
    amount,
    currency: invoice.currency,
    invoice: { id: invoice.id, number: invoice.number },
    patient: { id: invoice.patient.id, fullName: invoice.patient.fullName },
    type: parseOption('type', oneOf(PAYMENT_TYPES), given.type),
    method: parseOption('method', oneOf(PAYMENT_METHODS), given.method),
    status: parseOption('status', oneOf(PAYMENT_STATUSES), given.status),
    description:
      given.description === undefined
        ? null
        : parseOption('description', singleLineText(500), given.description),
    date:
      given.date === undefined
        ? clinicTimestamp(createdAt, clinic.timezone).slice(0, 10)
        : parseOption('date', RecordDate, given.date),
    createdAt,
  }
}

/** `--amount` in minor units of a currency. @throws CommandFailure unless it is positive */
function amountOf(given: { readonly amount: string; readonly type: string }, currency: string): number {
  const decimals = currencyDecimals(currency)
  const amount = parseDecimal(given.amount, decimals)
  if (amount === null && isTooLarge(given.amount, decimals)) throw new CommandFailure('--amount is too large')
  if (amount !== null && amount < 0 && given.type === 'refund')
    throw new CommandFailure('--amount of a refund is written without a minus sign')
  if (amount === null || amount <= 0) {
    throw new CommandFailure(
      `--amount must be a positive number with at most ${decimals} decimals in ${currency}`,
    )
  }
  return amount
}
