/**
 * Numbers of invoices. A request or an import takes a number with an item of its own, in the transaction of the invoice, so that of
 * concurrent writers one gets it. The item goes when the invoice loses its number (invoices.ts). Imports that allow equal numbers and
 * corrections by the operator write none: whether a number is free is read from the invoices by number.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import { formsOf } from '../external-ids/derive.ts'
import { invoiceCounterKey, invoiceNumberPartition, takenNumberKey } from '../keys/calendar.ts'
import type { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'

/** Numbers of other invoices that are skipped one by one. */
const MAX_SKIPPED = 20

/** A number such as `2026-000123`. */
const numberOf = (year: string, ordinal: number): string => `${year}-${String(ordinal).padStart(6, '0')}`

/**
 * Adds to a transaction that an invoice takes a number, unless another one takes it at the same time.
 * @param leftOver the item of the number that was read before no other invoice was found to have it: it belongs to none
 */
export const takeNumber = (changes: Changeset, number: string, invoice: string, leftOver?: Item): void =>
  changes.put(
    { ...takenNumberKey(changes.clinic, number), i: invoice },
    leftOver ? { attribute: 'i', equals: leftOver.i ?? null } : 'new',
  )

/** A free number whose predecessor is not free: steps that double find a free one, and halved ones the first of its run. */
async function firstAfter(last: number, isFree: (ordinal: number) => Promise<boolean>): Promise<number> {
  let [taken, step] = [last, 1]
  for (; !(await isFree(taken + step)); step *= 2) taken += step
  let free = taken + step
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2)
    if (await isFree(middle)) free = middle
    else taken = middle
  }
  return free
}

export function invoiceNumbers(table: Table) {
  /** The id of another invoice with a number, in any form of Unicode; null if there is none. */
  async function holderOf(clinic: ClinicId, number: string, invoice: string): Promise<string | null> {
    for (const form of formsOf(number)) {
      const found = await table.query({ pk: invoiceNumberPartition(clinic, form), limit: 2 })
      const other = found.find(({ sk }) => sk !== invoice)
      if (other) return other.sk
    }
    return null
  }

  /**
   * The next number of the year's invoices, which is counted in the invoice's transaction: none is lost if that fails. After many numbers
   * of other invoices, such as imported ones, it is a free one behind them, found in few reads.
   * @param isAgain whether an earlier attempt failed: items that are left over of numbers are skipped then, too
   */
  async function next(changes: Changeset, year: string, invoice: string, isAgain: boolean): Promise<string> {
    const { clinic } = changes
    const key = invoiceCounterKey(clinic, year)
    const counter = await table.get(key)
    const first = (counter?.n as number | undefined) ?? 1
    const version = counter?.v ?? 0
    const isFree = async (one: number) => {
      const number = numberOf(year, one)
      const [holder, taken] = await Promise.all([
        holderOf(clinic, number, invoice),
        isAgain && table.get(takenNumberKey(clinic, number)),
      ])
      return holder === null && !taken
    }
    let ordinal = first
    while (ordinal < first + MAX_SKIPPED && !(await isFree(ordinal))) ordinal++
    if (ordinal === first + MAX_SKIPPED) ordinal = await firstAfter(ordinal - 1, isFree)
    const number = numberOf(year, ordinal)
    changes.set(key, 'n', ordinal + 1)
    changes.expectVersion(key, version)
    takeNumber(changes, number, invoice)
    return number
  }

  return { holderOf, next }
}
