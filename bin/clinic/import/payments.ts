import * as z from 'zod'
import { oneOf, RecordDate } from '../../../shared/api/schemas.ts'
import { currencyDecimals } from '../../../shared/domain/currencies.ts'
import type { Invoice } from '../../../shared/domain/invoice.ts'
import { isTooLarge, parseDecimal } from '../../../shared/domain/money.ts'
import { fullName } from '../../../shared/domain/patient.ts'
import {
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  PAYMENT_TYPES,
  type Payment,
} from '../../../shared/domain/payment.ts'
import { singleLineText } from '../../../shared/domain/text-fields.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { definedFields, type ImportEntity } from './entity.ts'
import type { ColumnValues } from './imported-state.ts'
import { Decimal } from './invoice-amounts.ts'
import { type BuildPayment, type PaymentFields, paymentWriter } from './payment-writer.ts'
import { RecordRef } from './references.ts'
import { RowRejectedError } from './row-rejected.ts'
import { Instant } from './timestamps.ts'

const columns = {
  invoice_external_id: RecordRef,
  amount: Decimal,
  currency: z.string().nullish(),
  type: oneOf(PAYMENT_TYPES).nullish(),
  payment_method: oneOf(PAYMENT_METHODS),
  status: oneOf(PAYMENT_STATUSES).nullish(),
  description: singleLineText(500).nullish(),
  payment_date: RecordDate,
  created_at: Instant.nullish(),
}

/** Writes payments in the transaction that updates their invoice. */
export function paymentImport(table: Table, now: () => number): ImportEntity<PaymentFields> {
  const buildPayment: BuildPayment = ({ id, fields }, invoice, patient, before) => {
    const { invoiceId: _, amount, currency, ...facts } = fields
    return {
      type: 'payment',
      status: 'completed',
      description: null,
      createdAt: new Date(now()).toISOString(),
      ...before,
      ...(definedFields(facts) as Pick<Payment, 'method' | 'date'>),
      id,
      amount: amountOf(amount, currency, invoice),
      currency: invoice.currency,
      invoice: { id: invoice.id, number: invoice.number },
      patient: { id: patient.id, fullName: fullName(patient) },
    }
  }

  return {
    name: 'payments',
    idKind: 'payment',
    columns: Object.keys(columns),
    required: ['invoice_external_id', 'amount', 'payment_method', 'payment_date'],
    schema: (_clinic, _now, idOf) =>
      z.strictObject(columns).transform(
        (row): PaymentFields => ({
          invoiceId: idOf('invoice', row.invoice_external_id),
          amount: row.amount,
          currency: row.currency ?? undefined,
          type: row.type ?? undefined,
          method: row.payment_method,
          status: row.status ?? undefined,
          description: row.description,
          date: row.payment_date,
          createdAt: row.created_at ?? undefined,
        }),
      ),
    write: (run, batch) => paymentWriter(table, run, { buildPayment, valuesOf }).write(batch),
  }
}

const valuesOf = (payment: Payment): ColumnValues => ({
  invoice_external_id: payment.invoice.id,
  amount: payment.amount,
  currency: payment.currency,
  type: payment.type,
  payment_method: payment.method,
  status: payment.status,
  description: payment.description,
  payment_date: payment.date,
  created_at: payment.createdAt,
})

/** @throws RowRejectedError unless it is a positive amount in the invoice's currency */
function amountOf(value: string | number, currency: string | undefined, invoice: Invoice): number {
  if (currency !== undefined && currency !== invoice.currency) {
    throw new RowRejectedError(`currency must be ${invoice.currency}, the currency of the invoice`)
  }
  const decimals = currencyDecimals(invoice.currency)
  const amount = parseDecimal(value, decimals)
  if (amount === null && isTooLarge(value, decimals)) throw new RowRejectedError('amount is too large')
  if (amount === null || amount <= 0) {
    throw new RowRejectedError(
      `amount must be a positive number with at most ${decimals} decimals in ${invoice.currency}`,
    )
  }
  return amount
}
