import * as z from 'zod'
import { oneOf } from '../../../../shared/api/schemas.ts'
import { currencyDecimals } from '../../../../shared/domain/money/currencies.ts'
import type { Invoice } from '../../../../shared/domain/money/invoice.ts'
import { isTooLarge, parseDecimal } from '../../../../shared/domain/money/money.ts'
import {
  NEW_PAYMENT,
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  PAYMENT_TYPES,
  type Payment,
} from '../../../../shared/domain/money/payment.ts'
import { fullName } from '../../../../shared/domain/patients/patient.ts'
import { singleLineText } from '../../../../shared/domain/patients/text-fields.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import { RecordRef } from '../external-ids/resolve-references.ts'
import { RowRejectedError } from '../files/import-errors.ts'
import { definedFields, type ImportEntity } from './entity.ts'
import { Decimal } from './invoice-amounts.ts'
import type { BuildPayment, PaymentFields } from './payment-rows.ts'
import { paymentWriter } from './payment-writer.ts'
import { Instant, RowRecordDate } from './row-fields.ts'

const columns = {
  invoice_external_id: RecordRef,
  amount: Decimal,
  currency: z.string({ error: 'must be an ISO 4217 code such as EUR' }).nullish(),
  type: oneOf(PAYMENT_TYPES).nullish(),
  payment_method: oneOf(PAYMENT_METHODS),
  status: oneOf(PAYMENT_STATUSES).nullish(),
  description: singleLineText(500).nullish(),
  payment_date: RowRecordDate,
  voided_at: Instant.nullish(),
  void_reason: singleLineText(500).nullish(),
  created_at: Instant.nullish(),
}

/** Writes payments in the transaction that updates their invoice. */
export function paymentImport(table: Table, now: () => number): ImportEntity<PaymentFields> {
  const buildPayment: BuildPayment = ({ id, fields }, invoice, patient, before) => {
    const { invoiceId: _, amount, currency, ...facts } = fields
    const payment: Payment = {
      ...NEW_PAYMENT,
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
    requireFailedIfVoided(payment, before)
    return payment
  }

  return {
    name: 'payments',
    idKind: 'payment',
    columns: Object.keys(columns),
    required: ['invoice_external_id', 'amount', 'payment_method', 'payment_date'],
    schema: (_clinic, _now, idOf) =>
      z
        .strictObject(columns)
        .refine((row) => row.type !== 'payment' || !isNegative(row.amount), {
          path: ['amount'],
          error: 'of a payment must not be negative; the type of such a row is refund, or empty',
        })
        .transform(
          (row): PaymentFields => ({
            invoiceId: idOf('invoice', row.invoice_external_id),
            amount: isNegative(row.amount) ? String(row.amount).replace('-', '') : row.amount,
            currency: row.currency ?? undefined,
            type: row.type ?? (isNegative(row.amount) ? 'refund' : undefined),
            method: row.payment_method,
            status: row.status ?? undefined,
            description: row.description,
            date: row.payment_date,
            voidedAt: row.voided_at ?? undefined,
            voidReason: row.void_reason ?? undefined,
            createdAt: row.created_at ?? undefined,
          }),
        ),
    write: (run, batch) => paymentWriter(table, run, { buildPayment, valuesOf: paymentValues }).write(batch),
  }
}

/** A negative payment is a refund. */
const isNegative = (amount: string | number): boolean => /^\s*-/.test(String(amount))

export const paymentValues = (payment: Payment): ColumnValues => ({
  invoice_external_id: payment.invoice.id,
  amount: payment.amount,
  currency: payment.currency,
  type: payment.type,
  payment_method: payment.method,
  status: payment.status,
  description: payment.description,
  payment_date: payment.date,
  voided_at: payment.voidedAt,
  void_reason: payment.voidReason,
  created_at: payment.createdAt,
})

/** @throws RowRejectedError for a voided payment of another status, and for a reason without the time */
function requireFailedIfVoided(
  { status, voidedAt, voidReason }: Payment,
  before: Pick<Payment, 'voidedAt'> | null,
): void {
  if (voidedAt === null && voidReason !== null) throw new RowRejectedError('void_reason needs voided_at')
  if (voidedAt === null || status === 'failed') return
  throw new RowRejectedError(
    before?.voidedAt
      ? `the payment was voided, so its status is failed and cannot become ${status}`
      : 'status must be failed, as the payment has voided_at',
  )
}

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
