import * as z from 'zod'
import { oneOf } from '../../api/schemas.ts'
import type { ClinicInfo } from '../../domain/clinic.ts'
import { instantOf } from '../../domain/clock.ts'
import {
  NEW_PAYMENT,
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  PAYMENT_TYPES,
  type Payment,
} from '../../domain/money/payment.ts'
import { fullName } from '../../domain/patients/patient.ts'
import { financeText } from '../../domain/patients/text-fields.ts'
import type { Table } from '../../store/table/table.ts'
import { RowRejectedError } from '../outcomes/row-rejected.ts'
import { amountOf } from './catalogue-rows.ts'
import { columnTable, defaulted, nullable, reference, required } from './columns.ts'
import { definedFields, type ImportEntity } from './entity.ts'
import { Decimal } from './line-item-cells.ts'
import { type BuildPayment, type PaymentFields, writePayments } from './payment-writer.ts'
import { Instant, RowRecordDate, rowText } from './row-fields.ts'

/** Other systems list write-offs among payments, although nothing was paid. */
const PaymentType = z.enum(PAYMENT_TYPES, {
  error: ({ input }) =>
    input === 'write_off'
      ? 'is write_off: nothing was paid; add the amount to discount_amount of the invoice instead'
      : `must be one of ${PAYMENT_TYPES.join(', ')}`,
})

const columns = columnTable(
  {
    invoice_external_id: reference('invoice', 'invoice'),
    amount: required('amount', Decimal),
    currency: defaulted('currency', z.string({ error: 'must be an ISO 4217 code such as EUR' })),
    type: defaulted('type', PaymentType),
    payment_method: required('method', oneOf(PAYMENT_METHODS)),
    status: defaulted('status', oneOf(PAYMENT_STATUSES)),
    description: nullable('description', rowText(financeText())),
    payment_date: required('date', RowRecordDate),
    voided_at: defaulted('voidedAt', Instant),
    void_reason: defaulted('voidReason', rowText(financeText())),
    created_at: defaulted('createdAt', Instant),
  },
  (row) =>
    row.refine(({ type, amount }) => type !== 'payment' || !isNegative(amount), {
      path: ['amount'],
      error: 'of a payment must not be negative; the type of such a row is refund, or empty',
    }),
)

export const { cells: paymentCells, valuesOf: paymentValues } = columns

/** Writes payments in the transaction that updates their invoice. */
export function paymentImport(table: Table, now: () => number): ImportEntity<PaymentFields> {
  const buildPayment =
    ({ timezone }: ClinicInfo): BuildPayment =>
    ({ id, fields }, invoice, patient, before) => {
      const {
        invoice: _,
        amount,
        currency,
        type = isNegative(amount) ? 'refund' : undefined,
        ...facts
      } = fields
      if (currency !== undefined && currency !== invoice.currency)
        throw new RowRejectedError({
          field: 'currency',
          issue: `must be ${invoice.currency}, the currency of the invoice`,
        })
      const given = isNegative(amount) ? String(amount).replace('-', '') : amount
      const payment: Payment = {
        ...NEW_PAYMENT,
        type: 'payment',
        status: 'completed',
        description: null,
        createdAt: earlier(instantOf(facts.date, timezone), new Date(now()).toISOString()),
        ...before,
        ...(definedFields({ ...facts, type }) as Pick<Payment, 'method' | 'date'>),
        id,
        amount: amountOf(given, invoice.currency, 'amount', true),
        currency: invoice.currency,
        invoice: { id: invoice.id, number: invoice.number },
        patient: { id: patient.id, fullName: fullName(patient) },
      }
      if (type === undefined && before?.type === 'refund')
        throw new RowRejectedError({
          field: 'type',
          issue: 'is required: the payment is a refund, and its amount is not negative',
        })
      requireFailedIfVoided(payment, before)
      return payment
    }

  return {
    name: 'payments',
    idKind: 'payment',
    ...columns,
    write: (run, batch) => writePayments(table, run, batch, buildPayment(run.clinic), columns.valuesOf),
  }
}

const earlier = (one: string, other: string): string => (one < other ? one : other)

/** A negative payment is a refund. */
const isNegative = (amount: string | number): boolean => /^\s*-/.test(String(amount))

/** @throws RowRejectedError for a voided payment of another status, and for a reason without the time */
function requireFailedIfVoided(
  { status, voidedAt, voidReason }: Payment,
  before: Pick<Payment, 'voidedAt'> | null,
): void {
  if (voidedAt === null && voidReason !== null)
    throw new RowRejectedError({ field: 'void_reason', issue: 'needs voided_at' })
  if (voidedAt === null || status === 'failed') return
  throw new RowRejectedError(
    before?.voidedAt
      ? { field: '', issue: `the payment was voided, so its status is failed and cannot become ${status}` }
      : { field: 'status', issue: 'must be failed, as the payment has voided_at' },
  )
}
