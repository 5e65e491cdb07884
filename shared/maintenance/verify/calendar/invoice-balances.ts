import { isDeepStrictEqual } from 'node:util'
import { applyPayments, type Invoice } from '../../../domain/money/invoice.ts'
import type { Payment } from '../../../domain/money/payment.ts'
import { idOf } from '../../../store/calendar/calendar-row.ts'
import { INVOICES, invoiceStore } from '../../../store/calendar/invoices.ts'
import { PAYMENTS } from '../../../store/calendar/payments.ts'
import { calendarKey, calendarPartition, ownerPartition } from '../../../store/keys/calendar.ts'
import type { Key } from '../../../store/keys/key.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { Unrepaired } from '../comparison/derived-items.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import { readable } from '../comparison/readable.ts'
import { imageOf } from '../comparison/record-image.ts'
import type { Snapshot } from '../comparison/snapshot.ts'

/** Verifies that invoices match their payments, unless one of either is missing or not certain: it may count. */
export async function checkInvoiceBalances(
  { table, clinic, commit, examine }: Inspection,
  { missing, held }: Unrepaired,
): Promise<void> {
  if (held.size > 0) return
  for await (const invoices of partitionPages(table, calendarPartition(clinic, INVOICES.entityCode)))
    await forEachConcurrent(invoices, async (item) => {
      if (!(await matchesRows(item))) await examine((read) => recheck(item, read))
    })

  /** Whether an invoice matches the rows of its payments. */
  async function matchesRows(item: Item): Promise<boolean> {
    const invoice = imageOf<Invoice>(INVOICES, item)?.record
    const payments: (Payment | null)[] = []
    for await (const rows of partitionPages(table, listOf(item.sk)))
      payments.push(...rows.map((row) => readable(() => PAYMENTS.decode(row, idOf(row)))))
    if (!invoice || payments.includes(null)) return false
    return isDeepStrictEqual(applyPayments(invoice, payments as Payment[]), invoice)
  }

  function listOf(invoice: string): string {
    return ownerPartition(clinic, PAYMENTS.entityCode, 'invoice', invoice)
  }

  /** Every payment increments the version of its invoice, so an unchanged invoice means unchanged payments. */
  async function recheck({ pk, sk: id }: Key, read: Snapshot): Promise<Finding | null> {
    const item = await read.get({ pk, sk: id })
    const image = item && imageOf<Invoice>(INVOICES, item)
    if (!image) return null
    const list = listOf(id)
    const rows = missing.filter((row) => row.pk === list)
    for await (const page of partitionPages(table, list, { keysOnly: true })) rows.push(...page)
    const ids = new Set(rows.map((row) => idOf({ pk: list, sk: row.sk })))
    const items = await table.getMany([...ids].map((one) => calendarKey(clinic, PAYMENTS.entityCode, one)))
    const payments = items.map((one) => imageOf<Payment>(PAYMENTS, one)?.record)
    if (payments.includes(undefined)) return null
    const own = (payments as Payment[]).filter(({ invoice }) => invoice.id === id)
    const after = applyPayments(image.record, own)
    if (isDeepStrictEqual(after, image.record)) return null
    const repair = () =>
      commit((changes) => {
        invoiceStore({ table }).change(changes, image, after)
      })
    return findingOf('invoice_unsettled', image.key, repair)
  }
}
