import { isDeepStrictEqual } from 'node:util'
import { addsUp, applyPayments, type Invoice } from '../../../domain/money/invoice.ts'
import type { Payment } from '../../../domain/money/payment.ts'
import { calendarList } from '../../../store/calendar/calendar-list.ts'
import { rowAttributes } from '../../../store/calendar/calendar-row.ts'
import { INVOICES, invoiceStore } from '../../../store/calendar/invoices.ts'
import { PAYMENTS, paymentStore } from '../../../store/calendar/payments.ts'
import { DECIMALS_ATTRIBUTE } from '../../../store/table/stored-amounts.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import type { VerifiedKind } from '../comparison/derived-items.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import { imageOf, isRowOf } from '../comparison/record-image.ts'
import type { AnyRecord, VerifiedList } from './verified-lists.ts'

type Values = Readonly<Record<string, unknown>>

/** Attributes that an invoice's line items and payments confirm, besides amounts. */
const CONFIRMED: Readonly<Record<string, readonly string[]>> = { I: ['s', 'at'], Y: ['s', 'ty', 'i'] }

/**
 * Finds records with values that none of their rows has, and amounts that contradict each other. A record and its rows are written
 * together, so a row is not written from a record that may be the wrong one. Of the amounts of invoices and payments, those are right with
 * which the line items of the invoice add up, and its payments.
 */
export function contradictionFinder(
  { table, clinic, commit }: Inspection,
  { entity, copied }: VerifiedList<AnyRecord>,
): VerifiedKind['checkRecord'] {
  const isInvoice = entity.entityCode === INVOICES.entityCode
  const confirmed = [...(entity.amounts ?? []), ...(CONFIRMED[entity.entityCode] ?? [])]
  const list = calendarList<AnyRecord, never>({ table }, entity)
  const confirmedOf = (item: Item): Values => Object.fromEntries(confirmed.map((name) => [name, item[name]]))
  /** Names have other copies, and the index of changes has the time of the last change. */
  const ignored = new Set(['pk', 'sk', 'u', ...copied])

  return async (item, stored): Promise<Finding | null> => {
    const image = imageOf(clinic, entity, item)
    if (!image) return null
    const rows = [...stored.values()].filter((one) => isRowOf(entity, one))
    const names = contradicted(item, image.record, rows)
    if (names.length === 0 && (!isInvoice || addsUp(image.record as unknown as Invoice))) return null
    if (names.some((name) => !confirmed.includes(name))) return findingOf('record_contradicted', image.key)
    const variants = [item, ...rows]
      .map(confirmedOf)
      .filter((one, at, all) => all.findIndex((other) => isDeepStrictEqual(one, other)) === at)
    const right: Values[] = []
    for (const variant of variants) if (await isRight({ ...item, ...variant })) right.push(variant)
    const [only] = right
    if (right.length === 1 && only === variants[0]) return null
    const after = only && imageOf(clinic, entity, { ...item, ...only })
    // Its rows and counters are those of the right record already, or are repaired after it.
    const repair = ({ record }: NonNullable<typeof after>) =>
      commit((changes) => list.change(changes, { ...image, record }, record))
    const isCertain = right.length === 1 && after
    return findingOf('amounts_wrong', image.key, isCertain ? () => repair(after) : null)
  }

  /** The attributes of rows of which no row has the value of the record. */
  function contradicted(item: Item, record: AnyRecord, rows: readonly Item[]): string[] {
    const attributes = entity.encode(record as never)
    const { t } = rowAttributes(attributes, entity)
    // Items from before amounts had their decimals lack them.
    const own: Values = { ...attributes, t, [DECIMALS_ATTRIBUTE]: item[DECIMALS_ATTRIBUTE] }
    const names = new Set(rows.flatMap(Object.keys))
    return [...names].filter(
      (name) => !ignored.has(name) && !rows.some((row) => isDeepStrictEqual(row[name], own[name])),
    )
  }

  /** Whether the record with these values adds up, and its invoice follows from its payments. */
  async function isRight(item: Item): Promise<boolean> {
    if (isInvoice) {
      const record = imageOf(clinic, INVOICES, item)?.record as Invoice | undefined
      if (!record || !addsUp(record)) return false
      return isDeepStrictEqual(applyPayments(record, await paymentsOf(record.id)), record)
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
