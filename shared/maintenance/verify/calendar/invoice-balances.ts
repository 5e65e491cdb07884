import { isDeepStrictEqual } from 'node:util'
import { applyPayments, type Invoice } from '../../../domain/money/invoice.ts'
import type { Payment } from '../../../domain/money/payment.ts'
import { idOf, type ListPosition } from '../../../store/calendar/calendar-row.ts'
import { INVOICES, invoiceStore } from '../../../store/calendar/invoices.ts'
import { PAYMENTS } from '../../../store/calendar/payments.ts'
import { calendarKey, ownerPartition } from '../../../store/keys/calendar.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { Unrepaired } from '../comparison/derived-items.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import { imageOf, recordOfRow } from '../comparison/record-image.ts'
import type { Snapshot } from '../comparison/snapshot.ts'

/** Verifies that invoices match their payments. */
export function balanceChecker(
  { table, clinic, commit, examineAll }: Inspection,
  { missing, held }: Unrepaired,
) {
  /** Invoices that do not match, to be read again once lists and tallies are right: a change of status adds to them. */
  const suspects = new Set<string>()
  /** Payments whose records were missing, by the invoices that their rows name. */
  const lostOf = new Map<string, string[]>()

  /** Compares an invoice with the rows of its payments. */
  function survey(invoice: Invoice, rows: readonly Item[]): void {
    const payments = rows.map((row) => recordOfRow<Payment>(PAYMENTS, row))
    if (payments.includes(null) || corrected(invoice, payments as Payment[])) suspects.add(invoice.id)
  }

  function corrected(invoice: Invoice, payments: readonly Payment[]): Invoice | null {
    const after = applyPayments(invoice, payments)
    return isDeepStrictEqual(after, invoice) ? null : after
  }

  /** Every payment increments the version of its invoice, so an unchanged invoice means unchanged payments. */
  async function recheck(id: string, read: Snapshot): Promise<Finding | null> {
    const key = calendarKey(clinic, INVOICES.entityCode, id)
    const item = await read.get(key)
    const image = item && imageOf<Invoice>(clinic, INVOICES, item)
    if (!image || held.has(id)) return null
    const pk = ownerPartition(clinic, PAYMENTS.entityCode, 'invoice', id)
    const ids = new Set([...missing.of(pk).map((sk) => idOf({ pk, sk })), ...(lostOf.get(id) ?? [])])
    for await (const page of partitionPages(table, pk)) for (const row of page) ids.add(idOf(row))
    const items = await table.getMany([...ids].map((one) => calendarKey(clinic, PAYMENTS.entityCode, one)))
    // A payment that cannot be read, or is missing, may count.
    const payments = items.map((one) => imageOf<Payment>(clinic, PAYMENTS, one)?.record)
    if (payments.includes(undefined) || [...ids].some((one) => held.has(one))) return null
    const own = (payments as Payment[]).filter(({ invoice }) => invoice.id === id)
    const after = corrected(image.record, own)
    if (!after) return null
    const repair = () =>
      commit((changes) => {
        invoiceStore({ table }).change(changes, image, after)
      })
    return findingOf('invoice_unsettled', key, repair)
  }

  const add = (invoice: string | undefined): void => {
    if (invoice !== undefined) suspects.add(invoice)
  }

  return {
    survey,
    add,
    addLost: ({ id, invoice }: ListPosition): void => {
      add(invoice)
      if (invoice !== undefined) lostOf.set(invoice, [...(lostOf.get(invoice) ?? []), id])
    },
    checkSurveyed: () => examineAll(suspects, recheck),
  }
}
