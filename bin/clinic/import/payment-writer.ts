/** Writes imported payments in the transactions that settle their invoices. */
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { Invoice } from '../../../shared/domain/invoice.ts'
import type { Payment } from '../../../shared/domain/payment.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { PaidAmountTooLarge, PatientErased, settlement } from '../../../shared/store/calendar/settlement.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { patientStore, type StoredPatient } from '../../../shared/store/patients/patients.ts'
import type { Changeset } from '../../../shared/store/table/changeset.ts'
import type { Unit } from '../../../shared/store/table/commit-packed.ts'
import { ConditionFailed } from '../../../shared/store/table/errors.ts'
import { isSameRecord } from '../../../shared/store/table/stamped-codec.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { BatchOutcomes } from './batch-outcomes.ts'
import type { ImportRow, RowFields } from './entity.ts'
import { RowRejectedError, requirePatient } from './patient-rows.ts'
import { unknownReference } from './references.ts'

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

/** A row whose payment is missing or different. */
type ChangedRow = {
  readonly row: ImportRow<PaymentFields>
  readonly patient: StoredPatient
  readonly write: 'imported' | 'updated'
}

export function paymentWriter(
  table: Table,
  clinic: ClinicId,
  buildPayment: BuildPayment,
  outcomes: BatchOutcomes,
) {
  const { buildChangeset } = settlement(table)

  /** Compares rows with what is stored. All others have their outcome then. */
  async function decide(rows: readonly ImportRow<PaymentFields>[]): Promise<ChangedRow[]> {
    const { existing, known, owners } = await readReferences(table, clinic, rows)
    return rows.flatMap((row): ChangedRow[] => {
      const before = existing.get(row.id)?.record ?? null
      try {
        const invoice = known.get(row.fields.invoiceId)?.record
        if (!invoice) throw new RowRejectedError(unknownReference('invoice'))
        if (before && before.invoice.id !== invoice.id)
          throw new RowRejectedError('invoice_external_id cannot change')
        const patient = requirePatient(owners, invoice.patient.id)
        const after = buildPayment(row, invoice, patient, before)
        if (!before || !isSameRecord(before, after))
          return [{ row, patient, write: before ? 'updated' : 'imported' }]
        outcomes.unchanged(row.id)
      } catch (error) {
        if (!(error instanceof RowRejectedError)) throw error
        outcomes.rejected(row.id, error.message)
      }
      return []
    })
  }

  /** At most {@link MAX_PAYMENTS} payments of one invoice; null when all of them were rejected. */
  async function unitOf(rows: readonly ChangedRow[]): Promise<Unit | null> {
    let latest = rows
    const build = async () => {
      const { changes, accepted } = await buildWithin(latest)
      latest = accepted
      return changes
    }
    const changes = await build()
    return (
      changes && {
        changes,
        rebuild: async () => {
          latest = await decide(latest.map(({ row }) => row))
          return build()
        },
        onCommit: (outcome) => {
          for (const { row, write } of latest) outcomes.committed(row.id, write, outcome)
        },
      }
    )
  }

  /** Rejects the last rows as long as all together would pay more than an amount can be. */
  async function buildWithin(
    rows: readonly ChangedRow[],
  ): Promise<{ changes: Changeset | null; accepted: readonly ChangedRow[] }> {
    for (let accepted = rows; ; accepted = accepted.slice(0, -1)) {
      const last = accepted.at(-1)
      if (!last) return { changes: null, accepted }
      try {
        return { changes: await changesOf(accepted, last), accepted }
      } catch (error) {
        if (!(error instanceof PaidAmountTooLarge)) throw error
        outcomes.rejected(last.row.id, 'amount is too large with the other payments of the invoice')
      }
    }
  }

  /** The changes of rows of one invoice and patient. @throws ConditionFailed if they have to be compared again */
  async function changesOf(
    rows: readonly ChangedRow[],
    { row, patient }: ChangedRow,
  ): Promise<Changeset | null> {
    const wanted = rows.map((changed) => ({
      id: changed.row.id,
      externalId: changed.row.externalId,
      build: (invoice: Invoice, before: Payment | null) => {
        if (invoice.patient.id !== patient.id) throw new ConditionFailed([])
        return buildPayment(changed.row, invoice, patient, before)
      },
    }))
    try {
      const changes = await buildChangeset(clinic, row.fields.invoiceId, wanted)
      changes?.requireVersion(patientKey(clinic, patient.id), patient.version)
      return changes
    } catch (error) {
      const isOutdated = error instanceof RowRejectedError || error instanceof PatientErased
      throw isOutdated ? new ConditionFailed([]) : error
    }
  }

  return { decide, unitOf }
}

/** The stored payments of some rows, with their invoices and the patients of those. */
async function readReferences(table: Table, clinic: ClinicId, rows: readonly ImportRow<PaymentFields>[]) {
  const [existing, known] = await Promise.all([
    paymentStore({ table }).findMany(
      clinic,
      rows.map(({ id }) => id),
    ),
    invoiceStore({ table }).findMany(
      clinic,
      rows.map(({ fields }) => fields.invoiceId),
    ),
  ])
  const ids = new Set([...known.values()].map(({ record }) => record.patient.id))
  return { existing, known, owners: await patientStore({ table }).findMany(clinic, [...ids]) }
}
