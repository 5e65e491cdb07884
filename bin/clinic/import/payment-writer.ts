/** Writes imported payments in the transactions that settle their invoices. */
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { Invoice } from '../../../shared/domain/invoice.ts'
import type { Payment } from '../../../shared/domain/payment.ts'
import type { StoredRecord } from '../../../shared/store/calendar/calendar-entity.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { PAYMENTS, paymentStore } from '../../../shared/store/calendar/payments.ts'
import {
  MAX_PAYMENTS,
  PaidAmountTooLarge,
  type PaymentChange,
  type SettlementFacts,
  settlement,
} from '../../../shared/store/calendar/settlement.ts'
import { calendarKey } from '../../../shared/store/keys/calendar.ts'
import { patientStore, type StoredPatient } from '../../../shared/store/patients/patients.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import { chunked } from '../../../shared/store/table/chunked.ts'
import { commitPacked, type Unit } from '../../../shared/store/table/commit-packed.ts'
import { type ImportOrigin, setOrigin } from '../../../shared/store/table/import-origin.ts'
import { mapConcurrent } from '../../../shared/store/table/map-concurrent.ts'
import { isSameRecord } from '../../../shared/store/table/stamped-codec.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { Write } from './batch-outcomes.ts'
import type { ImportRow, ImportRun, RowFields } from './entity.ts'
import type { ColumnValues } from './imported-state.ts'
import { requireUnerased } from './patient-rows.ts'
import { unknownReference } from './references.ts'
import { RowRejectedError, requireKnownId } from './row-rejected.ts'

export type PaymentFields = RowFields<Omit<Payment, 'id' | 'invoice' | 'patient' | 'amount' | 'currency'>> & {
  invoiceId: string
  /** Not parsed yet: the number of decimals depends on the invoice's currency. */
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

/** What a row makes of its payment, and what that was decided by. */
type DecidedRow = {
  readonly row: ImportRow<PaymentFields>
  readonly write: Write
  readonly invoice: StoredRecord<Invoice>
  readonly patient: StoredPatient
  readonly before: StoredRecord<Payment> | null
  readonly after: Payment
  readonly origin: ImportOrigin
}

/** Changes that are committed together, and the rows that they write. */
type Decided = {
  readonly changes: Changeset
  readonly rows: readonly Pick<DecidedRow, 'row' | 'write'>[]
}

/** Invoices whose payments are read concurrently. */
const INVOICE_CONCURRENCY = 8

export function paymentWriter(table: Table, run: ImportRun, rules: PaymentRules) {
  const {
    clinic: { id: clinic },
    outcomes,
  } = run
  const { paymentsOf, addPayments } = settlement(table)

  /**
   * The changes of rows, those of one invoice in parts of at most {@link MAX_PAYMENTS}; rows without changes have their outcome
   * already. What they depend on is read for all of them together.
   */
  async function decide(rows: readonly ImportRow<PaymentFields>[]): Promise<Decided[]> {
    const { stored, known, patients } = await readReferences(table, clinic, rows)
    const decided = rows.flatMap((row) => {
      const invoice = known.get(row.fields.invoiceId)
      const patient = invoice && patients.get(invoice.record.patient.id)
      return decideRow(run, rules, row, stored.get(row.id) ?? null, invoice, patient) ?? []
    })
    const [confirmed, changed] = [
      decided.filter(({ write }) => write === 'unchanged'),
      decided.filter(({ write }) => write !== 'unchanged'),
    ]
    const groups = [...Map.groupBy(changed, ({ invoice }) => invoice.record.id).values()].flatMap((group) =>
      chunked(group, MAX_PAYMENTS),
    )
    const settled = await mapConcurrent(INVOICE_CONCURRENCY, groups, (group) => settle(group, stored))
    return [...confirmed.map(confirm), ...settled.filter((one) => one !== null)]
  }

  /** The payment is as the row has it; that it was imported is stored with it. */
  function confirm({ row, write, before, origin }: DecidedRow): Decided {
    const changes = new Changeset(table, clinic)
    setOrigin(changes, calendarKey(clinic, PAYMENTS.letter, row.id), before?.version ?? 0, origin)
    return { changes, rows: [{ row, write }] }
  }

  /** The changes of rows of one invoice; null when all of them were rejected. */
  async function settle(
    rows: readonly DecidedRow[],
    stored: SettlementFacts['stored'],
  ): Promise<Decided | null> {
    const [first] = rows
    if (!first) return null
    const { invoice, patient } = first
    const facts = { invoice, patient, stored, all: await paymentsOf(clinic, invoice) }
    // Rejects the last rows as long as all together would pay more than an amount can be.
    for (let accepted = rows; ; accepted = accepted.slice(0, -1)) {
      const last = accepted.at(-1)
      if (!last) return null
      const wanted = accepted.map(
        ({ row: { id }, after, origin }): PaymentChange => ({
          id,
          build: () => after,
          originOf: () => origin,
        }),
      )
      try {
        return { changes: addPayments(clinic, facts, wanted), rows: accepted }
      } catch (error) {
        if (!(error instanceof PaidAmountTooLarge)) throw error
        outcomes.rejected(last.row.id, 'amount is too large with the other payments of the invoice')
      }
    }
  }

  function unitOf(decided: Decided): Unit {
    let latest = decided.rows
    return {
      changes: decided.changes,
      rebuild: async () => {
        const again = await decide(latest.map(({ row }) => row))
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

  /** Writes rows, and reports the outcome of each. */
  async function write(rows: readonly ImportRow<PaymentFields>[]): Promise<void> {
    await commitPacked(table, clinic, (await decide(rows)).map(unitOf))
  }

  return { write }
}

/** What a row makes of its payment; null if it has its outcome already. */
function decideRow(
  { judge, outcomes }: ImportRun,
  { buildPayment, valuesOf }: PaymentRules,
  row: ImportRow<PaymentFields>,
  before: StoredRecord<Payment> | null,
  invoice: StoredRecord<Invoice> | undefined,
  patient: StoredPatient | undefined,
): DecidedRow | null {
  if (before && judge.isImported(row, before)) {
    outcomes.unchanged(row.id)
    return null
  }
  try {
    requireKnownId(row, before)
    const column = row.columnOf('invoice_external_id')
    if (!invoice) throw new RowRejectedError(unknownReference(column, 'invoice'))
    if (before && before.record.invoice.id !== invoice.record.id)
      throw new RowRejectedError(`${column} cannot change`)
    if (!patient) throw new RowRejectedError('the clinic has no patient of the invoice')
    requireUnerased(patient)
    const after = buildPayment(row, invoice.record, patient, before?.record ?? null)
    const origin = judge.judge(row, before, before && valuesOf(before.record), valuesOf(after))
    const write = before ? (isSameRecord(before.record, after) ? 'unchanged' : 'updated') : 'imported'
    return { row, write, invoice, patient, before, after, origin }
  } catch (error) {
    if (!(error instanceof RowRejectedError)) throw error
    outcomes.rejected(row.id, error.message)
    return null
  }
}

/** The stored payments of some rows, with their invoices and the patients of those. */
async function readReferences(table: Table, clinic: ClinicId, rows: readonly ImportRow<PaymentFields>[]) {
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
