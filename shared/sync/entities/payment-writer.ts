/** Writes imported payments in the transactions that settle their invoices. */

import type { Invoice } from '../../domain/money/invoice.ts'
import { mayCount, type Payment, sumOfPayments } from '../../domain/money/payment.ts'
import type { StoredRecord } from '../../store/calendar/calendar-entity.ts'
import { type BalanceFacts, ImpossibleBalance, invoiceBalance } from '../../store/calendar/invoice-balance.ts'
import { invoiceStore } from '../../store/calendar/invoices.ts'
import { PAYMENTS, paymentStore } from '../../store/calendar/payments.ts'
import { setProvenance } from '../../store/external-ids/provenance.ts'
import { calendarKey } from '../../store/keys/calendar.ts'
import { patientStore, type StoredPatient } from '../../store/patients/patients.ts'
import { Changeset } from '../../store/table/changeset.ts'
import { commitPacked, type Unit } from '../../store/table/commit-packed.ts'
import { mapConcurrent } from '../../store/table/map-concurrent.ts'
import type { Table } from '../../store/table/table.ts'
import { isSameRecord } from '../../store/table/updated-at-codec.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import { findReferenced, requireKnown } from '../external-ids/resolve-references.ts'
import type { RowWrite } from '../outcomes/batch-outcomes.ts'
import { RowRejectedError, requireKnownId } from '../outcomes/row-rejected.ts'
import type { Warning } from '../outcomes/warnings.ts'
import { inRounds } from './appointment-overlaps.ts'
import type { ImportRow, ImportRun, RowFields } from './entity.ts'
import { requireUnerased } from './patient-rows.ts'

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

/** The changes of a row. */
type Decided = {
  readonly row: ImportRow<PaymentFields>
  readonly changes: Changeset
  readonly write: RowWrite
}

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
  { clinic: { id: clinic }, outcomes, overwritePolicy }: ImportRun,
  batch: readonly ImportRow<PaymentFields>[],
  buildPayment: BuildPayment,
  valuesOf: (payment: Payment) => ColumnValues,
): Promise<void> {
  const { paymentsOf, addPayments } = invoiceBalance(table)

  /**
   * The changes of rows of different invoices; rows without changes have their outcome then. The records that rows depend on are read
   * first, for all of them together.
   */
  async function* decide(rows: readonly ImportRow<PaymentFields>[]): AsyncGenerator<Decided, undefined> {
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
    for (const row of rows) {
      const before = stored.get(row.id) ?? null
      if (before && overwritePolicy.isImported(row, before)) {
        outcomes.unchanged(row.id)
        continue
      }
      const invoice = known.get(row.fields.invoice)
      const patient = invoice && patients.get(invoice.record.patient.id)
      const all = payments.get(row.fields.invoice) ?? []
      const decided = outcomes.decided(row.id, () => decideRow(row, before, invoice, patient, all))
      if (decided) yield decided
    }
  }

  /** Decides on the payment after a row; null if it was rejected. @throws RowRejectedError */
  function decideRow(
    row: ImportRow<PaymentFields>,
    before: StoredRecord<Payment> | null,
    found: StoredRecord<Invoice> | undefined,
    patient: StoredPatient | undefined,
    all: readonly Payment[],
  ): Decided | null {
    const { id } = row
    requireKnownId(row, before)
    const column = row.columnOf('invoice_external_id')
    const invoice = requireKnown(found, column, 'invoice')
    if (before && before.record.invoice.id !== invoice.record.id)
      throw new RowRejectedError({ field: column, issue: 'cannot change' })
    if (!patient) throw new RowRejectedError({ field: column, issue: 'has no patient' })
    requireUnerased(patient, column)
    const after = buildPayment(row, invoice.record, patient, before?.record ?? null)
    const left = before && valuesOf(before.record)
    const provenance = overwritePolicy.check(row, before, left, valuesOf(after))
    if (before && isSameRecord(before.record, after)) {
      const changes = new Changeset(table, clinic)
      setProvenance(changes, calendarKey(clinic, PAYMENTS.entityCode, id), before.version, provenance)
      return { row, changes, write: 'unchanged' }
    }
    const facts = { invoice, patient, stored: new Map(before ? [[id, before]] : []), all }
    try {
      const payment = { id, build: () => after, provenanceOf: () => provenance }
      const { changes } = addPayments(clinic, facts, [payment])
      warnOfOverpayment(id, after, facts)
      return { row, changes, write: before ? 'updated' : 'imported' }
    } catch (error) {
      if (!(error instanceof ImpossibleBalance)) throw error
      // A refund can precede its payment in the file.
      const rejection = new RowRejectedError({ field: '', issue: error.message })
      outcomes.rejected(id, rejection, { mayPassLater: error.reason === 'refunds_exceed_paid' })
      return null
    }
  }

  /** Warns of payments beyond the total, pending ones included, as "payment create" does. */
  function warnOfOverpayment(id: string, after: Payment, { invoice, all }: BalanceFacts): void {
    const payments = [...all.filter((one) => one.id !== id), after]
    const isOverpaid = sumOfPayments(payments.filter(mayCount)) > invoice.record.total
    outcomes.warned(id, isOverpaid && after.type === 'payment' && mayCount(after) ? OVERPAID : null)
  }

  function unitOf({ row, changes, write }: Decided): Unit {
    let latest = write
    return {
      changes,
      rebuild: async () => {
        const { value: again } = await decide([row]).next()
        if (again) latest = again.write
        return again?.changes ?? null
      },
      onCommit: (outcome) => outcomes.committed(row.id, latest, outcome),
    }
  }

  async function* units(rows: readonly ImportRow<PaymentFields>[]): AsyncGenerator<Unit> {
    for await (const decided of decide(rows)) yield unitOf(decided)
  }

  // Payments of a month share tallies, which a transaction writes once.
  const byDate = batch.toSorted((a, b) => a.fields.date.localeCompare(b.fields.date))
  for (const rows of inRounds(byDate, ({ fields }) => fields.invoice))
    await commitPacked(table, clinic, units(rows))
}
