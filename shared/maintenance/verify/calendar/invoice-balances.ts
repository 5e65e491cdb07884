import { isDeepStrictEqual } from 'node:util'
import { applyPayments, type Invoice } from '../../../domain/money/invoice.ts'
import type { Payment } from '../../../domain/money/payment.ts'
import { idOf } from '../../../store/calendar/calendar-row.ts'
import { INVOICES, invoiceStore } from '../../../store/calendar/invoices.ts'
import { PAYMENTS } from '../../../store/calendar/payments.ts'
import { calendarKey, ownerPartition } from '../../../store/keys/calendar.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { imageOf, recordOfRow } from '../comparison/record-image.ts'
import type { UnrepairedRows } from '../comparison/unrepaired-rows.ts'

/** Verifies that invoices match their payments. */
export function balanceChecker(
  { table, clinic, examine }: Inspection,
  unrepaired: UnrepairedRows,
  isHeld: (id: string) => boolean,
) {
  /** Invoices that do not match, to be read again once lists and tallies are right: a change of status adds to them. */
  const suspects = new Set<string>()
  /** Payments whose records were missing, by the invoices that their rows name. */
  const lostOf = new Map<string, string[]>()

  /** Compares an invoice with the rows of its payments. */
  function survey(invoice: Item, rows: readonly Item[]): void {
    const record = imageOf(clinic, INVOICES, invoice)?.record as Invoice | undefined
    const payments = rows.map((row) => recordOfRow<Payment>(PAYMENTS, row))
    if (!record) return
    if (payments.includes(null) || corrected(record, payments as Payment[])) suspects.add(record.id)
  }

  function corrected(invoice: Invoice, payments: readonly Payment[]): Invoice | null {
    const after = applyPayments(invoice, payments)
    return isDeepStrictEqual(after, invoice) ? null : after
  }

  /** Every payment increments the version of its invoice, so an unchanged version means unchanged payments. */
  const recheck =
    (id: string): Recheck =>
    async () => {
      const key = calendarKey(clinic, INVOICES.entityCode, id)
      const item = await table.get(key)
      const image = item && imageOf<Invoice>(clinic, INVOICES, item)
      if (!image || isHeld(id)) return null
      const pk = ownerPartition(clinic, PAYMENTS.entityCode, 'invoice', id)
      const ids = new Set(unrepaired.missing.of(pk).map((sk) => idOf({ pk, sk })))
      for await (const page of partitionPages(table, pk)) for (const row of page) ids.add(idOf(row))
      for (const payment of lostOf.get(id) ?? []) ids.add(payment)
      const items = await table.getMany([...ids].map((one) => calendarKey(clinic, PAYMENTS.entityCode, one)))
      const again = await table.get(key)
      if (again?.v !== image.version) return 'moving'
      // A payment that cannot be read, or is missing, may count.
      const payments = items.map((one) => imageOf<Payment>(clinic, PAYMENTS, one)?.record)
      if (payments.includes(undefined) || [...ids].some(isHeld)) return null
      const own = (payments as Payment[]).filter(({ invoice }) => invoice.id === id)
      const after = corrected(image.record, own)
      if (!after) return null
      const repair = () => {
        const changes = new Changeset(table, clinic)
        invoiceStore({ table }).change(changes, image, after)
        return changes.commit()
      }
      return { differences: [{ kind: 'invoice_unsettled', key }], repair }
    }

  return {
    survey,
    add: (invoice: string) => suspects.add(invoice),
    addLost: (invoice: string, payment: string) =>
      lostOf.set(invoice, [...(lostOf.get(invoice) ?? []), payment]),
    checkSurveyed: () => forEachConcurrent([...suspects], (id) => examine(recheck(id))),
  }
}
