/** Writes imported payments in the transactions that settle their invoices. */

import type { Invoice } from '../../domain/money/invoice.ts'
import { mayCount, type Payment, sumOfPayments } from '../../domain/money/payment.ts'
import type { StoredRecord } from '../../store/calendar/calendar-entity.ts'
import { ImpossibleBalance, invoiceBalance } from '../../store/calendar/invoice-balance.ts'
import { invoiceStore } from '../../store/calendar/invoices.ts'
import { PAYMENTS, paymentStore } from '../../store/calendar/payments.ts'
import { calendarKey } from '../../store/keys/calendar.ts'
import { patientStore, type StoredPatient } from '../../store/patients/patients.ts'
import { mapConcurrent } from '../../store/table/map-concurrent.ts'
import type { Table } from '../../store/table/table.ts'
import { isSameRecord } from '../../store/table/updated-at-codec.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import { findReferenced, requireKnown } from '../external-ids/resolve-references.ts'
import { RowRejectedError, requireKnownId } from '../outcomes/row-rejected.ts'
import type { Warning } from '../outcomes/warnings.ts'
import { inRounds } from './appointment-overlaps.ts'
import type { ImportRow, ImportRun, RowFields } from './entity.ts'
import { commitRows, confirmed, requireUnerased } from './patient-rows.ts'

export type PaymentFields = RowFields<Omit<Payment, 'id' | 'invoice' | 'patient' | 'amount' | 'currency'>> &
  Pick<Payment, 'date'> & {
    invoice: string
    /** The unparsed amount: its number of decimals depends on the invoice's currency. */
    amount: string | number
    currency: string | undefined
  }

/** Builds the payment of a row. May throw {@link RowRejectedError}. */
export type BuildPayment = (
  row: ImportRow<PaymentFields>,
  invoice: Invoice,
  patient: StoredPatient,
  before: Payment | null,
) => Payment

const OVERPAID: Warning = {
  kind: 'value',
  field: 'amount',
  issue: 'with the other payments is more than the total of the invoice',
}

/** Invoices whose payments are read concurrently. */
const INVOICE_CONCURRENCY = 8

/** Writes rows, and reports the outcome of each. Those of one invoice are written one after another: each changes the invoice. */
export async function writePayments(
  table: Table,
  run: ImportRun,
  batch: readonly ImportRow<PaymentFields>[],
  buildPayment: BuildPayment,
  valuesOf: (payment: Payment) => ColumnValues,
): Promise<void> {
  const { outcomes, overwritePolicy } = run
  const { id: clinic } = run.clinic
  const { paymentsOf, addPayments } = invoiceBalance(table)

  /** Reads what rows of different invoices depend on. */
  async function read(rows: readonly ImportRow<PaymentFields>[]) {
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
    async function decide(row: ImportRow<PaymentFields>, before: StoredRecord<Payment> | null) {
      const { id } = row
      requireKnownId(row, before)
      const column = row.columnOf('invoice_external_id')
      const invoice = requireKnown(known.get(row.fields.invoice), column, 'invoice')
      if (before && before.record.invoice.id !== invoice.record.id)
        throw new RowRejectedError({ field: column, issue: 'cannot change' })
      const patient = patients.get(invoice.record.patient.id)
      if (!patient) throw new RowRejectedError({ field: column, issue: 'has no patient' })
      requireUnerased(patient, column)
      const after = buildPayment(row, invoice.record, patient, before?.record ?? null)
      const left = before && valuesOf(before.record)
      const provenance = overwritePolicy.check(row, before, left, valuesOf(after))
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
