import type { ClinicId } from '../../shared/domain/clinic.ts'
import { invoiceBalance, type PaymentChange } from '../../shared/store/calendar/invoice-balance.ts'
import type { Changeset } from '../../shared/store/table/changeset.ts'
import type { Table } from '../../shared/store/table/table.ts'

/** The changes of payments of one invoice, and of the invoice; null for an unknown one. @throws ImpossibleBalance; PatientErased */
export async function paymentChanges(
  table: Table,
  clinic: ClinicId,
  invoice: string,
  wanted: readonly PaymentChange[],
): Promise<Changeset | null> {
  const balance = invoiceBalance(table)
  const ids = wanted.map(({ id }) => id)
  const facts = await balance.read(clinic, invoice, ids)
  return facts && balance.addPayments(clinic, facts, wanted).changes
}
