import { isDeepStrictEqual } from 'node:util'
import { addsUp, applyPayments, type Invoice } from '../../../domain/money/invoice.ts'
import type { Payment } from '../../../domain/money/payment.ts'
import { calendarList } from '../../../store/calendar/calendar-list.ts'
import { INVOICES, invoiceStore } from '../../../store/calendar/invoices.ts'
import { PAYMENTS, paymentStore } from '../../../store/calendar/payments.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import type { VerifiedKind } from '../comparison/derived-items.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import { imageOf } from '../comparison/record-image.ts'
import type { AnyRecord, VerifiedList } from './verified-lists.ts'

type Amounts = Readonly<Record<string, unknown>>

/**
 * Finds amounts of invoices and payments that contradict each other, and payments whose rows have another status, type or invoice: a row
 * is not written from a record that may be the wrong one. That is right which the line items of the invoice add up to, and its payments.
 */
export function amountChecker(
  { table, clinic, commit }: Inspection,
  { entity }: VerifiedList<AnyRecord>,
): VerifiedKind['checkRecord'] {
  const isInvoice = entity.entityCode === INVOICES.entityCode
  const amounts = [
    ...(entity.amounts ?? []),
    ...(entity.entityCode === PAYMENTS.entityCode ? ['s', 'ty', 'i'] : []),
  ]
  if (amounts.length === 0) return undefined
  const list = calendarList<AnyRecord, never>({ table }, entity)
  const amountsOf = (item: Item): Amounts => Object.fromEntries(amounts.map((name) => [name, item[name]]))

  return async (item, derived): Promise<Finding | null> => {
    const image = imageOf(clinic, entity, item)
    if (!image) return null
    const ownRows = new Set(image.rowKeys.map(({ pk }) => pk))
    const stored = amountsOf(item)
    const rows = [...derived.values()].filter(({ pk }) => ownRows.has(pk)).map(amountsOf)
    const isConfirmed = rows.length === 0 || rows.some((row) => isDeepStrictEqual(row, stored))
    const isSound = !isInvoice || addsUp(image.record as unknown as Invoice)
    if (isConfirmed && isSound) return null
    const variants = [stored, ...rows].filter(
      (one, at, all) => all.findIndex((other) => isDeepStrictEqual(one, other)) === at,
    )
    const right: Amounts[] = []
    for (const variant of variants) if (await isRight({ ...item, ...variant })) right.push(variant)
    const [only] = right
    if (right.length === 1 && only === stored) return null
    const after = only && imageOf(clinic, entity, { ...item, ...only })
    // Its rows and counters are those of the right record already, or are repaired after it.
    const repair = ({ record }: NonNullable<typeof after>) =>
      commit((changes) => list.change(changes, { ...image, record }, record))
    const isCertain = right.length === 1 && after
    return findingOf('amounts_wrong', image.key, isCertain ? () => repair(after) : null)
  }

  /** Whether the record with these amounts adds up, and its invoice with its payments. */
  async function isRight(item: Item): Promise<boolean> {
    if (isInvoice) {
      const record = imageOf(clinic, INVOICES, item)?.record as Invoice | undefined
      if (!record || !addsUp(record)) return false
      return applyPayments(record, await paymentsOf(record.id)).paid === record.paid
    }
    const record = imageOf(clinic, PAYMENTS, item)?.record as Payment | undefined
    const invoice = record && (await invoiceStore({ table }).find(clinic, record.invoice.id))?.record
    if (!record || !invoice) return false
    const others = (await paymentsOf(invoice.id)).filter(({ id }) => id !== record.id)
    return applyPayments(invoice, [...others, record]).paid === invoice.paid
  }

  /** The payments of an invoice, from their records. */
  async function paymentsOf(invoice: string): Promise<readonly Payment[]> {
    const payments = paymentStore({ table })
    const listed = await payments.allOf(clinic, 'invoice', invoice)
    const found = await payments.findMany(
      clinic,
      listed.map(({ id }) => id),
    )
    return [...found.values()].map(({ record }) => record).filter((payment) => payment.invoice.id === invoice)
  }
}
