/** Writes imported payments in the transactions that settle their invoices. */

import {
  type BalanceFacts,
  invoiceBalance,
  MAX_PAYMENTS,
  PaidAmountTooLarge,
  type PaymentChange,
} from '../../../../shared/store/calendar/invoice-balance.ts'
import { PAYMENTS } from '../../../../shared/store/calendar/payments.ts'
import { setProvenance } from '../../../../shared/store/external-ids/provenance.ts'
import { calendarKey } from '../../../../shared/store/keys/calendar.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { chunked } from '../../../../shared/store/table/chunked.ts'
import { commitPacked, type Unit } from '../../../../shared/store/table/commit-packed.ts'
import { mapConcurrent } from '../../../../shared/store/table/map-concurrent.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ImportRow, ImportRun } from './entity.ts'
import {
  byInvoice,
  type DecidedRow,
  decideRow,
  isRepeated,
  type PaymentFields,
  type PaymentRules,
  readReferences,
} from './payment-rows.ts'

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
  const { paymentsOf, addPayments } = invoiceBalance(table)

  /**
   * The changes of rows, for one invoice in parts of at most {@link MAX_PAYMENTS}; rows without changes have their outcome
   * then. The records that rows depend on are read first, for all of them together. The rows of an invoice are decided when
   * the caller asks for them.
   */
  async function* decide(rows: readonly ImportRow<PaymentFields>[]): AsyncGenerator<Decided> {
    const { stored, known, patients } = await readReferences(table, clinic, rows)
    const open = rows.filter((row) => !isRepeated(run, row, stored.get(row.id)))
    const groups = await mapConcurrent(INVOICE_CONCURRENCY, byInvoice(open, known), async (one) => ({
      ...one,
      all: one.invoice ? await paymentsOf(clinic, one.invoice) : [],
    }))
    for (const { invoice, group, all } of groups) {
      const patient = invoice && patients.get(invoice.record.patient.id)
      const decided = group.flatMap(
        (row) => decideRow(run, rules, row, stored.get(row.id) ?? null, invoice, patient) ?? [],
      )
      for (const row of decided) if (row.write === 'unchanged') yield confirm(row)
      const changed = decided.filter(({ write }) => write !== 'unchanged')
      for (const part of chunked(changed, MAX_PAYMENTS)) {
        const settled = settle(part, stored, all)
        if (settled) yield settled
      }
    }
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
    // Rejects the last rows as long as all together would pay more than an amount can be.
    for (let accepted = rows; ; accepted = accepted.slice(0, -1)) {
      const last = accepted.at(-1)
      if (!last) return null
      const wanted = accepted.map(
        ({ row: { id }, after, provenance }): PaymentChange => ({
          id,
          build: () => after,
          provenanceOf: () => provenance,
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

  /** Writes rows, and reports the outcome of each. */
  async function write(rows: readonly ImportRow<PaymentFields>[]): Promise<void> {
    await commitPacked(table, clinic, units(rows))
  }

  async function* units(rows: readonly ImportRow<PaymentFields>[]): AsyncGenerator<Unit> {
    for await (const decided of decide(rows)) yield unitOf(decided)
  }

  return { write }
}
