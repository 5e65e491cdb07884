import { isDeepStrictEqual } from 'node:util'
import { type Invoice, settled } from '../../../shared/domain/invoice.ts'
import type { Payment } from '../../../shared/domain/payment.ts'
import { INVOICES, invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { PAYMENTS } from '../../../shared/store/calendar/payments.ts'
import { calendarKey, ownerPartition } from '../../../shared/store/keys/calendar.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import type { Item } from '../../../shared/store/table/table.ts'
import { eachAbreast } from './each-abreast.ts'
import type { Look } from './fault.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'
import { imageOf, type RecordImage, recordIdOf } from './record-image.ts'
import type { UnmendedRows } from './unmended-rows.ts'

/** Whether invoices are what their payments make of them. */
export function settlements({ table, clinic, examine }: Inspection, unmended: UnmendedRows) {
  const invoices = invoiceStore({ table })

  async function check(items: readonly Item[]): Promise<void> {
    await eachAbreast(items, async (item) => {
      const image = imageOf(clinic, INVOICES, item)
      if (image && (await unsettled(image))) await examine(lookAt(image.id))
    })
  }

  /** The invoice as it should be; null when it is, or when a payment cannot be read. */
  async function unsettled({ id, record }: RecordImage<Invoice>): Promise<Invoice | null> {
    const payments = await paymentsOf(id)
    const after = payments && settled(record, payments)
    return after && !isDeepStrictEqual(after, record) ? after : null
  }

  async function paymentsOf(invoice: string): Promise<Payment[] | null> {
    const pk = ownerPartition(clinic, PAYMENTS.letter, 'invoice', invoice)
    const rows = unmended.missing.of(pk).map((sk) => ({ pk, sk }))
    for await (const page of partitionPages(table, pk)) rows.push(...page)
    const ids = new Set(rows.flatMap((row) => recordIdOf(row) ?? []))
    const items = await table.getMany([...ids].map((id) => calendarKey(clinic, PAYMENTS.letter, id)))
    const images = items.map((item) => imageOf(clinic, PAYMENTS, item))
    if (images.includes(null)) return null
    return images.flatMap((image) => (image?.place.invoice === invoice ? [image.record] : []))
  }

  /** Every payment changes its invoice's version: while that stands still, so do they. */
  const lookAt =
    (id: string): Look =>
    async () => {
      const key = calendarKey(clinic, INVOICES.letter, id)
      const item = await table.get(key)
      const image = item && imageOf(clinic, INVOICES, item)
      if (!image) return null
      const after = await unsettled(image)
      const again = await table.get(key)
      if (again?.v !== image.version) return 'moving'
      if (!after) return null
      const mend = () => {
        const changes = new Changeset(table, clinic)
        invoices.change(changes, image, after)
        return changes.commit()
      }
      return { faults: [{ kind: 'invoice_unsettled', key }], mend }
    }

  return { check }
}
