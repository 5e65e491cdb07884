import { isDeepStrictEqual } from 'node:util'
import { applyPayments, type Invoice } from '../../../domain/money/invoice.ts'
import { INVOICES, invoiceStore } from '../../../store/calendar/invoices.ts'
import { PAYMENTS } from '../../../store/calendar/payments.ts'
import { calendarKey, ownerPartition } from '../../../store/keys/calendar.ts'
import type { Key } from '../../../store/keys/key.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { imageOf, type RecordImage, recordIdOf } from '../comparison/record-image.ts'
import type { UnrepairedRows } from '../comparison/unrepaired-rows.ts'

/** Verifies that invoices match their payments. */
export function balanceChecker({ table, clinic, examine }: Inspection, unrepaired: UnrepairedRows) {
  const invoices = invoiceStore({ table })

  /** Invoices that do not match, to be read again once the tallies are right: a change of status adds to them. */
  const suspects: string[] = []

  /** Compares invoices with the payments that the rows of their lists name. */
  async function survey(listed: readonly (readonly [invoice: Item, rows: readonly Key[]])[]): Promise<void> {
    const payments = await readPayments(listed.flatMap(([, rows]) => rows))
    for (const [invoice, rows] of listed) {
      const image = imageOf(clinic, INVOICES, invoice)
      if (!image) continue
      // A row that is missing and was not repaired: the payment is not among those that were read.
      if (unrepaired.missing.of(listOf(image.id)).length > 0 || correctedInvoice(image, payments, rows))
        suspects.push(image.id)
    }
  }

  const checkSurveyed = (): Promise<void> => forEachConcurrent(suspects, (id) => examine(recheck(id)))

  const listOf = (invoice: string): string => ownerPartition(clinic, PAYMENTS.entityCode, 'invoice', invoice)

  /** The payments that rows name, by their ids. */
  async function readPayments(rows: readonly Key[]): Promise<Map<string, Item>> {
    const ids = new Set(rows.flatMap((row) => recordIdOf(row) ?? []))
    const items = await table.getMany([...ids].map((id) => calendarKey(clinic, PAYMENTS.entityCode, id)))
    return new Map(items.map((item) => [item.sk, item]))
  }

  /** The invoice as it should be; null if it is right, or if a payment is unreadable. */
  function correctedInvoice(
    { id, record }: RecordImage<Invoice>,
    payments: ReadonlyMap<string, Item>,
    rows: readonly Key[],
  ): Invoice | null {
    const ids = new Set(rows.flatMap((row) => recordIdOf(row) ?? []))
    const items = [...ids].flatMap((payment) => payments.get(payment) ?? [])
    const images = items.map((item) => imageOf(clinic, PAYMENTS, item))
    if (images.includes(null)) return null
    const own = images.flatMap((image) => (image?.position.invoice === id ? [image.record] : []))
    const after = applyPayments(record, own)
    return isDeepStrictEqual(after, record) ? null : after
  }

  /** Every payment increments the version of its invoice, so an unchanged version means unchanged payments. */
  const recheck =
    (id: string): Recheck =>
    async () => {
      const key = calendarKey(clinic, INVOICES.entityCode, id)
      const item = await table.get(key)
      const image = item && imageOf(clinic, INVOICES, item)
      if (!image) return null
      const pk = listOf(id)
      const rows: Key[] = unrepaired.missing.of(pk).map((sk) => ({ pk, sk }))
      for await (const page of partitionPages(table, pk)) rows.push(...page)
      const after = correctedInvoice(image, await readPayments(rows), rows)
      const again = await table.get(key)
      if (again?.v !== image.version) return 'moving'
      if (!after) return null
      const repair = () => {
        const changes = new Changeset(table, clinic)
        invoices.change(changes, image, after)
        return changes.commit()
      }
      return { differences: [{ kind: 'invoice_unsettled', key }], repair }
    }

  return { survey, checkSurveyed }
}
