/** Decisions on the payments of a file's rows, and the facts that they depend on. */
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import type { Invoice } from '../../../../shared/domain/money/invoice.ts'
import type { Payment } from '../../../../shared/domain/money/payment.ts'
import type { StoredRecord } from '../../../../shared/store/calendar/calendar-entity.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import type { Provenance } from '../../../../shared/store/external-ids/provenance.ts'
import { patientStore, type StoredPatient } from '../../../../shared/store/patients/patients.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { isSameRecord } from '../../../../shared/store/table/updated-at-codec.ts'
import type { ColumnValues } from '../external-ids/overwrite-check.ts'
import { unknownReference } from '../external-ids/resolve-references.ts'
import type { Write } from '../files/batch-outcomes.ts'
import { RowRejectedError, requireKnownId } from '../files/import-errors.ts'
import type { ImportRow, ImportRun, RowFields } from './entity.ts'
import { requireUnerased } from './patient-rows.ts'

export type PaymentFields = RowFields<Omit<Payment, 'id' | 'invoice' | 'patient' | 'amount' | 'currency'>> & {
  invoiceId: string
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

/** How payments are built, and what they have in each column. */
export type PaymentRules = {
  readonly buildPayment: BuildPayment
  readonly valuesOf: (payment: Payment) => ColumnValues
}

/** The payment after a row, and the facts of the decision. */
export type DecidedRow = {
  readonly row: ImportRow<PaymentFields>
  readonly write: Write
  readonly invoice: StoredRecord<Invoice>
  readonly patient: StoredPatient
  readonly before: StoredRecord<Payment> | null
  readonly after: Payment
  readonly provenance: Provenance
}

type InvoiceRows = {
  /** Undefined for an unknown one. */
  readonly invoice: StoredRecord<Invoice> | undefined
  readonly group: readonly ImportRow<PaymentFields>[]
}

/** The rows of each invoice, sorted by the months that they count in, so that the rows of one transaction share tallies. */
export function byInvoice(
  rows: readonly ImportRow<PaymentFields>[],
  known: ReadonlyMap<string, StoredRecord<Invoice>>,
): InvoiceRows[] {
  const groups = [...Map.groupBy(rows, ({ fields }) => fields.invoiceId)].map(
    ([id, group]): InvoiceRows => ({ invoice: known.get(id), group }),
  )
  const monthsOf = ({ invoice, group }: InvoiceRows) =>
    [invoice?.record.issueDate, group[0]?.fields.date].map((date = '') => date.slice(0, 7)).join()
  const byMonths = [...Map.groupBy(groups, monthsOf)].sort(([a], [b]) => (a < b ? -1 : 1))
  return byMonths.flatMap(([, same]) => same)
}

/** Whether the row is the one that was imported last, so that nothing is to be done. Then that is its outcome. */
export function isRepeated(
  { overwritePolicy, outcomes }: ImportRun,
  row: ImportRow<PaymentFields>,
  before: StoredRecord<Payment> | undefined,
): boolean {
  if (!before || !overwritePolicy.isImported(row, before)) return false
  outcomes.unchanged(row.id)
  return true
}

/** Decides on the payment after a row; null if it was rejected. */
export function decideRow(
  { overwritePolicy, outcomes }: ImportRun,
  { buildPayment, valuesOf }: PaymentRules,
  row: ImportRow<PaymentFields>,
  before: StoredRecord<Payment> | null,
  invoice: StoredRecord<Invoice> | undefined,
  patient: StoredPatient | undefined,
): DecidedRow | null {
  try {
    requireKnownId(row, before)
    const column = row.columnOf('invoice_external_id')
    if (!invoice) throw new RowRejectedError(unknownReference(column, 'invoice'))
    if (before && before.record.invoice.id !== invoice.record.id)
      throw new RowRejectedError(`${column} cannot change`)
    if (!patient) throw new RowRejectedError('the clinic has no patient of the invoice')
    requireUnerased(patient)
    const after = buildPayment(row, invoice.record, patient, before?.record ?? null)
    const provenance = overwritePolicy.check(row, before, before && valuesOf(before.record), valuesOf(after))
    const write = before ? (isSameRecord(before.record, after) ? 'unchanged' : 'updated') : 'imported'
    return { row, write, invoice, patient, before, after, provenance }
  } catch (error) {
    return outcomes.rejectedBy(row.id, error)
  }
}

/** The stored payments of some rows, with their invoices and the patients of those. */
export async function readReferences(
  table: Table,
  clinic: ClinicId,
  rows: readonly ImportRow<PaymentFields>[],
) {
  const [stored, known] = await Promise.all([
    paymentStore({ table }).findMany(
      clinic,
      rows.map(({ id }) => id),
    ),
    invoiceStore({ table }).findMany(
      clinic,
      rows.map(({ fields }) => fields.invoiceId),
    ),
  ])
  const owners = new Set([...known.values()].map(({ record }) => record.patient.id))
  return { stored, known, patients: await patientStore({ table }).findMany(clinic, [...owners]) }
}
