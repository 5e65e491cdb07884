import { isDeepStrictEqual } from 'node:util'
import { applyPayments, type Invoice } from '../../../shared/domain/money/invoice.ts'
import type { Payment } from '../../../shared/domain/money/payment.ts'
import type { Stamped } from '../../../shared/domain/stamped.ts'
import { INVOICES, invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { PAYMENT_ATTRIBUTES, PAYMENTS } from '../../../shared/store/calendar/payments.ts'
import { calendarKey, ownerPartition } from '../../../shared/store/keys/calendar.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import type { Recheck } from './fault.ts'
import { forEachConcurrent } from './for-each-concurrent.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'
import { imageOf, type RecordImage, recordIdOf } from './record-image.ts'
import type { UnrepairedRows } from './unrepaired-rows.ts'

/** The invoice's number in the row of a payment. */
const NUMBER_ATTRIBUTE = PAYMENT_ATTRIBUTES.invoice.number.name

/** Verifies that invoices match their payments. */
export function settlementChecker({ table, clinic, examine }: Inspection, unrepaired: UnrepairedRows) {
  const invoices = invoiceStore({ table })
  const suspects: string[] = []
  /** Payments that seem to show another number than that of their invoice. */
  const renumbered = new Set<string>()

  /** Compares an invoice with the rows of its payments. Those that seem not to match are verified after the rows. */
  function survey(item: Item, rows: readonly Item[]): void {
    const image = imageOf(clinic, INVOICES, item)
    if (image && !matches(image.record, rows)) suspects.push(image.id)
    for (const row of rows) {
      const id = recordIdOf(row)
      if (image && id !== null && row[NUMBER_ATTRIBUTE] !== image.record.number) renumbered.add(id)
    }
  }

  const checkSurveyed = (): Promise<void> => forEachConcurrent(suspects, (id) => examine(recheck(id)))

  async function check(items: readonly Item[]): Promise<void> {
    await forEachConcurrent(items, async (item) => {
      const image = imageOf(clinic, INVOICES, item)
      if (image && (await correctedInvoice(image))) await examine(recheck(image.id))
    })
  }

  /** The invoice as it should be; null if it is right, or if a payment is unreadable. */
  async function correctedInvoice({ id, record }: RecordImage<Invoice>): Promise<Invoice | null> {
    const payments = await paymentsOf(id)
    const after = payments && applyPayments(record, payments)
    return after && !isDeepStrictEqual(after, record) ? after : null
  }

  async function paymentsOf(invoice: string): Promise<Payment[] | null> {
    const pk = ownerPartition(clinic, PAYMENTS.letter, 'invoice', invoice)
    const rows = unrepaired.missing.of(pk).map((sk) => ({ pk, sk }))
    for await (const page of partitionPages(table, pk)) rows.push(...page)
    const ids = new Set(rows.flatMap((row) => recordIdOf(row) ?? []))
    const items = await table.getMany([...ids].map((id) => calendarKey(clinic, PAYMENTS.letter, id)))
    const images = items.map((item) => imageOf(clinic, PAYMENTS, item))
    if (images.includes(null)) return null
    return images.flatMap((image) => (image?.position.invoice === invoice ? [image.record] : []))
  }

  /** Every payment increments the version of its invoice, so an unchanged version means unchanged payments. */
  const recheck =
    (id: string): Recheck =>
    async () => {
      const key = calendarKey(clinic, INVOICES.letter, id)
      const item = await table.get(key)
      const image = item && imageOf(clinic, INVOICES, item)
      if (!image) return null
      const after = await correctedInvoice(image)
      const again = await table.get(key)
      if (again?.v !== image.version) return 'moving'
      if (!after) return null
      const repair = () => {
        const changes = new Changeset(table, clinic)
        invoices.change(changes, image, after)
        return changes.commit()
      }
      return { faults: [{ kind: 'invoice_unsettled', key }], repair }
    }

  return { survey, renumbered, checkSurveyed, check }
}

/** Whether an invoice matches its payments as far as their rows say: a thin one does not have all of its payment. */
function matches(invoice: Stamped<Invoice>, rows: readonly Item[]): boolean {
  try {
    const payments = rows.map((row) => PAYMENTS.decode(row, recordIdOf(row) ?? ''))
    return !rows.some(({ t }) => t) && isDeepStrictEqual(applyPayments(invoice, payments), invoice)
  } catch {
    return false
  }
}
