/**
 * Numbers of invoices. A request or an import takes a number with an item of its own, in the transaction of the invoice, so that of
 * concurrent writers one gets it. The item goes when the invoice loses its number (invoices.ts). Imports that allow equal numbers and
 * corrections by the operator write none: whether a number is free is read from the invoices by number.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import { invoiceCounterKey, invoiceNumberPartition, takenNumberKey } from '../keys/calendar.ts'
import { Changeset } from '../table/changeset.ts'
import { UnavailableError } from '../table/errors.ts'
import type { Table } from '../table/table.ts'

/** Numbers of other invoices that are skipped in one attempt. */
const MAX_SKIPPED = 20

/** A number such as `2026-000123`. */
const numberOf = (year: string, ordinal: number): string => `${year}-${String(ordinal).padStart(6, '0')}`

/** Adds to a transaction that an invoice takes a number, unless another one has taken it. */
export const takeNumber = (changes: Changeset, number: string, invoice: string): void =>
  changes.put({ ...takenNumberKey(changes.clinic, number), i: invoice }, 'new')

export function invoiceNumbers(table: Table) {
  /** The id of another invoice with a number; null if there is none. */
  async function holderOf(clinic: ClinicId, number: string, invoice: string): Promise<string | null> {
    const found = await table.query({ pk: invoiceNumberPartition(clinic, number), limit: 2 })
    return found.find(({ sk }) => sk !== invoice)?.sk ?? null
  }

  /**
   * The next number of the year's invoices, which is counted in the invoice's transaction: none is lost if that fails.
   * @throws UnavailableError if too many numbers are those of other invoices; the next request continues after them
   */
  async function next(changes: Changeset, year: string, invoice: string): Promise<string> {
    const { clinic } = changes
    const key = invoiceCounterKey(clinic, year)
    const counter = await table.get(key)
    const first = (counter?.n as number | undefined) ?? 1
    const version = (counter?.v as number | undefined) ?? 0
    const countTo = (next: number, to: Changeset) => {
      to.set(key, 'n', next)
      to.expectVersion(key, version)
    }
    for (let ordinal = first; ordinal <= first + MAX_SKIPPED; ordinal++) {
      const number = numberOf(year, ordinal)
      if ((await holderOf(clinic, number, invoice)) !== null) continue
      countTo(ordinal + 1, changes)
      takeNumber(changes, number, invoice)
      return number
    }
    const skipped = new Changeset(table, clinic)
    countTo(first + MAX_SKIPPED + 1, skipped)
    await skipped.commit()
    throw new UnavailableError('the next numbers are taken')
  }

  return { holderOf, next }
}
