/** Payments are written in the transactions that settle their invoices. */
import * as z from 'zod'
import { oneOf } from '../../api/schemas.ts'
import type { ClinicInfo } from '../../domain/clinic.ts'
import { instantOf } from '../../domain/clock.ts'
import type { Invoice } from '../../domain/money/invoice.ts'
import {
  mayCount,
  NEW_PAYMENT,
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  PAYMENT_TYPES,
  type Payment,
  sumOfPayments,
} from '../../domain/money/payment.ts'
import { fullName } from '../../domain/patients/patient.ts'
import { financeText } from '../../domain/patients/text-fields.ts'
import type { StoredRecord } from '../../store/calendar/calendar-entity.ts'
import { ImpossibleBalance, invoiceBalance } from '../../store/calendar/invoice-balance.ts'
import { invoiceStore } from '../../store/calendar/invoices.ts'
import { PAYMENTS, paymentStore } from '../../store/calendar/payments.ts'
import { calendarKey } from '../../store/keys/calendar.ts'
import { patientStore, type StoredPatient } from '../../store/patients/patients.ts'
import { mapConcurrent } from '../../store/table/map-concurrent.ts'
import type { Table } from '../../store/table/table.ts'
import { isSameRecord } from '../../store/table/updated-at-codec.ts'
import { findReferenced, requireKnown } from '../external-ids/resolve-references.ts'
import { RowRejectedError, requireKnownId } from '../outcomes/row-rejected.ts'
import type { Warning } from '../outcomes/warnings.ts'
import { inRounds } from './appointment-overlaps.ts'
import { amountOf } from './catalogue-rows.ts'
import { columnTable, defaulted, nullable, reference, required } from './columns.ts'
import { definedFields, type ImportEntity, type ImportRow, type ImportRun, type RowFields } from './entity.ts'
import { Decimal } from './line-item-cells.ts'
import { commitRows, confirmed, requireUnerased } from './patient-rows.ts'
import { Instant, RowRecordDate, rowText } from './row-fields.ts'

type Fields = RowFields<Omit<Payment, 'id' | 'invoice' | 'patient' | 'amount' | 'currency'>> &
  Pick<Payment, 'date'> & {
    invoice: string
    /** The unparsed amount: its number of decimals depends on the invoice's currency. */
    amount: string | number
    currency: string | undefined
  }

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

const OVERPAID: Warning = {
  kind: 'value',
  field: 'amount',
  issue: 'with the other payments is more than the total of the invoice',
}

/** Invoices whose payments are read concurrently. */
const INVOICE_CONCURRENCY = 8

export function paymentImport(table: Table, now: () => number): ImportEntity<Fields> {
  /** The payment of a row. @throws RowRejectedError */
  function build(
    { id, fields }: ImportRow<Fields>,
    invoice: Invoice,
    patient: StoredPatient,
    before: Payment | null,
    { timezone }: ClinicInfo,
  ): Payment {
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

  /** Writes rows, and reports the outcome of each. Those of one invoice are written one after another: each changes the invoice. */
  async function write(run: ImportRun, batch: readonly ImportRow<Fields>[]): Promise<void> {
    const { outcomes, overwritePolicy } = run
    const { id: clinic } = run.clinic
    const { paymentsOf, addPayments } = invoiceBalance(table)

    /** Reads what rows of different invoices depend on. */
    async function read(rows: readonly ImportRow<Fields>[]) {
      const [stored, known] = await Promise.all([
        paymentStore({ table }).findMany(
          clinic,
          rows.map(({ id }) => id),
        ),
        findReferenced(invoiceStore({ table }), clinic, rows, ({ invoice }) => [invoice]),
      ])
      const invoices = [...known.values()]
      const owners = new Set(invoices.map(({ record }) => record.patient.id))
      const patients = await patientStore({ table }).findMany(clinic, [...owners])
      const payments = new Map(
        await mapConcurrent(
          INVOICE_CONCURRENCY,
          invoices,
          async (invoice) => [invoice.record.id, await paymentsOf(clinic, invoice)] as const,
        ),
      )
      /** Decides on the payment after a row; null if it was rejected. */
      async function decide(row: ImportRow<Fields>, before: StoredRecord<Payment> | null) {
        const { id } = row
        requireKnownId(row, before)
        const column = row.columnOf('invoice_external_id')
        const invoice = requireKnown(known.get(row.fields.invoice), column, 'invoice')
        if (before && before.record.invoice.id !== invoice.record.id)
          throw new RowRejectedError({ field: column, issue: 'cannot change' })
        const patient = patients.get(invoice.record.patient.id)
        if (!patient) throw new RowRejectedError({ field: column, issue: 'has no patient' })
        requireUnerased(patient, column)
        const after = build(row, invoice.record, patient, before?.record ?? null, run.clinic)
        const left = before && paymentValues(before.record)
        const provenance = overwritePolicy.check(row, before, left, paymentValues(after))
        if (before && isSameRecord(before.record, after))
          return confirmed(table, clinic, calendarKey(clinic, PAYMENTS.entityCode, id), before, provenance)
        const all = payments.get(invoice.record.id) ?? []
        try {
          const facts = { invoice, patient, stored: new Map(before ? [[id, before]] : []), all }
          const payment = { id, build: () => after, provenanceOf: () => provenance }
          const { changes } = addPayments(clinic, facts, [payment])
          // Pending payments included, as "payment create" does.
          const counted = [...all.filter((one) => one.id !== id), after].filter(mayCount)
          const isOverpaid = sumOfPayments(counted) > invoice.record.total
          outcomes.warned(id, isOverpaid && after.type === 'payment' && mayCount(after) ? OVERPAID : null)
          return { changes, write: before ? ('updated' as const) : ('imported' as const) }
        } catch (error) {
          if (!(error instanceof ImpossibleBalance)) throw error
          // A refund can precede its payment in the file.
          const rejection = new RowRejectedError({ field: '', issue: error.message })
          outcomes.rejected(id, rejection, { mayPassLater: error.reason === 'refunds_exceed_paid' })
          return null
        }
      }
      return { stored, decide }
    }

    // Payments of a month share tallies, which a transaction writes once.
    const byDate = batch.toSorted((a, b) => a.fields.date.localeCompare(b.fields.date))
    for (const rows of inRounds(byDate, ({ fields }) => [fields.invoice]))
      await commitRows(table, run, rows, read)
  }

  return { name: 'payments', idKind: 'payment', ...columns, write }
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
