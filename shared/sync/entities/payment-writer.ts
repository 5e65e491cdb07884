/** Writes imported payments in the transactions that settle their invoices. */

import type { Invoice } from '../../domain/money/invoice.ts'
import { mayCount, type Payment, sumOfPayments } from '../../domain/money/payment.ts'
import type { StoredRecord } from '../../store/calendar/calendar-entity.ts'
import {
  type BalanceFacts,
  ImpossibleBalance,
  invoiceBalance,
  MAX_PAYMENTS,
  type PaymentChange,
} from '../../store/calendar/invoice-balance.ts'
import { invoiceStore } from '../../store/calendar/invoices.ts'
import { PAYMENTS, paymentStore } from '../../store/calendar/payments.ts'
import { type Provenance, setProvenance } from '../../store/external-ids/provenance.ts'
import { calendarKey } from '../../store/keys/calendar.ts'
import { patientStore, type StoredPatient } from '../../store/patients/patients.ts'
import { Changeset } from '../../store/table/changeset.ts'
import { chunked } from '../../store/table/chunked.ts'
import { commitPacked, type Unit } from '../../store/table/commit-packed.ts'
import { mapConcurrent } from '../../store/table/map-concurrent.ts'
import type { Table } from '../../store/table/table.ts'
import { isSameRecord } from '../../store/table/updated-at-codec.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import { requireKnown } from '../external-ids/resolve-references.ts'
import type { Write } from '../outcomes/batch-outcomes.ts'
import { RowRejectedError, requireKnownId } from '../outcomes/row-rejected.ts'
import type { Warning } from '../outcomes/warnings.ts'
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

/** The payment after a row, and the facts of the decision. */
type DecidedRow = {
  readonly row: ImportRow<PaymentFields>
  readonly write: Write
  readonly invoice: StoredRecord<Invoice>
  readonly patient: StoredPatient
  readonly before: StoredRecord<Payment> | null
  readonly after: Payment
  readonly provenance: Provenance
}

/** Changes that are committed together, and the rows that they write. */
type Decided = {
  readonly changes: Changeset
  readonly rows: readonly Pick<DecidedRow, 'row' | 'write'>[]
}

const OVERPAID: Warning = {
  kind: 'value',
  field: 'amount',
  issue: 'with the other payments is more than the total of the invoice',
}

/** Invoices whose payments are read concurrently. */
const INVOICE_CONCURRENCY = 8

/** Writes rows, and reports the outcome of each. */
export async function writePayments(
  table: Table,
  { clinic: { id: clinic }, outcomes, overwritePolicy }: ImportRun,
  batch: readonly ImportRow<PaymentFields>[],
  buildPayment: BuildPayment,
  valuesOf: (payment: Payment) => ColumnValues,
): Promise<void> {
  const { paymentsOf, addPayments } = invoiceBalance(table)

  /**
   * The changes of rows, for one invoice in parts of at most {@link MAX_PAYMENTS}; rows without changes have their outcome
   * then. The records that rows depend on are read first, for all of them together. The rows of an invoice are decided when
   * the caller asks for them.
   */
  async function* decide(rows: readonly ImportRow<PaymentFields>[]): AsyncGenerator<Decided> {
    const ids = rows.map(({ id }) => id)
    const invoices = rows.map(({ fields }) => fields.invoice)
    const [stored, known] = await Promise.all([
      paymentStore({ table }).findMany(clinic, ids),
      invoiceStore({ table }).findMany(clinic, invoices),
    ])
    const owners = new Set([...known.values()].map(({ record }) => record.patient.id))
    const patients = await patientStore({ table }).findMany(clinic, [...owners])
    const isRepeated = (row: ImportRow<PaymentFields>) => {
      const before = stored.get(row.id)
      return before !== undefined && overwritePolicy.isImported(row, before)
    }
    for (const { id } of rows.filter(isRepeated)) outcomes.unchanged(id)
    const open = rows.filter((row) => !isRepeated(row))
    const groups = await mapConcurrent(INVOICE_CONCURRENCY, byInvoice(open, known), async (one) => ({
      ...one,
      all: one.invoice ? await paymentsOf(clinic, one.invoice) : [],
    }))
    for (const { invoice, group, all } of groups) {
      const patient = invoice && patients.get(invoice.record.patient.id)
      const decided = group.flatMap(
        (row) => decideRow(row, stored.get(row.id) ?? null, invoice, patient) ?? [],
      )
      for (const row of decided) if (row.write === 'unchanged') yield confirm(row)
      const changed = decided.filter(({ write }) => write !== 'unchanged')
      for (const part of chunked(changed, MAX_PAYMENTS)) {
        const settled = settle(part, stored, all)
        if (settled) yield settled
      }
    }
  }

  /** Decides on the payment after a row; null if it was rejected. */
  function decideRow(
    row: ImportRow<PaymentFields>,
    before: StoredRecord<Payment> | null,
    found: StoredRecord<Invoice> | undefined,
    patient: StoredPatient | undefined,
  ): DecidedRow | null {
    return outcomes.decided(row.id, () => {
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
      const write = before ? (isSameRecord(before.record, after) ? 'unchanged' : 'updated') : 'imported'
      return { row, write, invoice, patient, before, after, provenance }
    })
  }

  /** The payment is as the row has it; that it was imported is stored with it. */
  function confirm({ row, write, before, provenance }: DecidedRow): Decided {
    const changes = new Changeset(table, clinic)
    setProvenance(changes, calendarKey(clinic, PAYMENTS.entityCode, row.id), before?.version ?? 0, provenance)
    return { changes, rows: [{ row, write }] }
  }

  /** The changes of rows of one invoice; null when all of them were rejected. */
  function settle(
    rows: readonly DecidedRow[],
    stored: BalanceFacts['stored'],
    all: BalanceFacts['all'],
  ): Decided | null {
    const [first] = rows
    if (!first) return null
    const { invoice, patient } = first
    const facts = { invoice, patient, stored, all }
    for (let accepted = rows; accepted.length > 0; ) {
      const wanted = accepted.map(
        ({ row: { id }, after, provenance }): PaymentChange => ({
          id,
          build: () => after,
          provenanceOf: () => provenance,
        }),
      )
      try {
        const { changes } = addPayments(clinic, facts, wanted)
        warnOfOverpayment(accepted, facts)
        return { changes, rows: accepted }
      } catch (error) {
        if (!(error instanceof ImpossibleBalance)) throw error
        const { payment, reason, message } = error
        // A refund can precede its payment in the file.
        const rejection = new RowRejectedError({ field: '', issue: message })
        outcomes.rejected(payment, rejection, { mayPassLater: reason === 'refunds_exceed_paid' })
        accepted = accepted.filter(({ row }) => row.id !== payment)
      }
    }
    return null
  }

  /** Warns of payments beyond the total, pending ones included, as "payment create" does. */
  function warnOfOverpayment(rows: readonly DecidedRow[], { invoice, all }: BalanceFacts): void {
    const payments = new Map([...all, ...rows.map(({ after }) => after)].map((one) => [one.id, one]))
    const isOverpaid = sumOfPayments([...payments.values()].filter(mayCount)) > invoice.record.total
    for (const { row, after } of rows)
      outcomes.warned(row.id, isOverpaid && after.type === 'payment' && mayCount(after) ? OVERPAID : null)
  }

  function unitOf(decided: Decided): Unit {
    let latest = decided.rows
    return {
      changes: decided.changes,
      rebuild: async () => {
        const again: Decided[] = []
        for await (const one of decide(latest.map(({ row }) => row))) again.push(one)
        latest = again.flatMap(({ rows }) => rows)
        if (latest.length === 0) return null
        const changes = new Changeset(table, clinic)
        for (const one of again)
          if (!changes.merge(one.changes)) throw new RangeError('the rows of a unit do not fit together')
        return changes
      },
      onCommit: (outcome) => {
        for (const { row, write } of latest) outcomes.committed(row.id, write, outcome)
      },
    }
  }

  async function* units(): AsyncGenerator<Unit> {
    for await (const decided of decide(batch)) yield unitOf(decided)
  }

  await commitPacked(table, clinic, units())
}

type InvoiceRows = {
  /** Undefined for an unknown one. */
  readonly invoice: StoredRecord<Invoice> | undefined
  readonly group: readonly ImportRow<PaymentFields>[]
}

/** The rows of each invoice, sorted by the months that they count in, so that the rows of one transaction share tallies. */
function byInvoice(
  rows: readonly ImportRow<PaymentFields>[],
  known: ReadonlyMap<string, StoredRecord<Invoice>>,
): InvoiceRows[] {
  const groups = [...Map.groupBy(rows, ({ fields }) => fields.invoice)].map(
    ([id, group]): InvoiceRows => ({ invoice: known.get(id), group }),
  )
  const monthsOf = ({ invoice, group }: InvoiceRows) =>
    [invoice?.record.issueDate, group[0]?.fields.date].map((date = '') => date.slice(0, 7)).join()
  const byMonths = [...Map.groupBy(groups, monthsOf)].sort(([a], [b]) => (a < b ? -1 : 1))
  return byMonths.flatMap(([, same]) => same)
}
