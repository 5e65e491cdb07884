/**
 * Amounts of an imported invoice: parsed exactly, kept where the file has no column for them, computed where its cell is empty, checked
 * where it is not.
 */
import * as z from 'zod'
import { currencyDecimals } from '../../../../shared/domain/money/currencies.ts'
import {
  type Invoice,
  isSumOfLines,
  type LineItem,
  lineAmount,
  percentageOf,
  subtotalOf,
  sumOfLines,
} from '../../../../shared/domain/money/invoice.ts'
import {
  checkDecimal,
  MAX_MINOR_UNITS,
  RATIO_DECIMALS,
  RATIO_SCALE,
  renderMoney,
} from '../../../../shared/domain/money/money.ts'
import { financeText } from '../../../../shared/domain/patients/text-fields.ts'
import { OwnRef, RecordRef, type RefIds } from '../external-ids/resolve-references.ts'
import { parseJson } from '../files/csv-cells.ts'
import { RowRejectedError } from '../files/import-errors.ts'
import { rowText } from './row-fields.ts'

/** A decimal number in JSON or CSV. The number of decimals is checked once the currency is known. */
export const Decimal = z.union([z.number(), z.string().trim()], { error: 'must be a number' })

const LineItemRow = z
  .strictObject(
    {
      // Accepted because exports of the API have it, but not used: line item ids are derived from the invoice's id.
      id: z.unknown().optional(),
      description: rowText(financeText()),
      quantity: Decimal.nullish(),
      unit_price: Decimal,
      discount_amount: Decimal.nullish(),
      discount_rate: Decimal.nullish(),
      tax_rate: Decimal.nullish(),
      tax_amount: Decimal.nullish(),
      total_amount: Decimal.nullish(),
      doctor_external_id: RecordRef.nullish(),
      doctor_id: OwnRef.nullish(),
      treatment_external_id: RecordRef.nullish(),
      treatment_id: OwnRef.nullish(),
    },
    { error: 'must be an object with description and unit_price' },
  )
  .check(
    ...(['doctor', 'treatment'] as const).map((kind) =>
      z.refine<Readonly<Record<string, unknown>>>(
        (row) => row[`${kind}_id`] == null || row[`${kind}_external_id`] == null,
        { path: [`${kind}_id`], error: `must not be combined with ${kind}_external_id` },
      ),
    ),
  )

export const MAX_LINE_ITEMS = 200

export const TOO_MANY_LINE_ITEMS = `must have at most ${MAX_LINE_ITEMS} line items`

/** Line items: a list in NDJSON, a JSON array in a CSV cell. */
export const LineItems = z.preprocess(
  (value) => (typeof value === 'string' ? parseJson(value) : value),
  z
    .array(LineItemRow, { error: 'must be a JSON array of line items' })
    .max(MAX_LINE_ITEMS, { error: TOO_MANY_LINE_ITEMS }),
)

/** Line items as they were read, with the ids of the records that they refer to. */
export const readLineItems = (items: z.output<typeof LineItems>, idOf: RefIds) =>
  items.map(({ doctor_external_id, doctor_id, treatment_external_id, treatment_id, ...item }) => {
    const [doctor, treatment] = [doctor_external_id ?? doctor_id, treatment_external_id ?? treatment_id]
    return {
      ...item,
      doctor: doctor == null ? null : idOf('doctor', doctor),
      treatment: treatment == null ? null : idOf('treatment', treatment),
    }
  })

export type LineItemCells = ReturnType<typeof readLineItems>[number]

type LineItemRow = Omit<LineItemCells, 'doctor' | 'treatment'> &
  Partial<Pick<LineItem, 'doctor' | 'treatment'>>

/** Line items that are kept have their ids. */
type ImportedItem = Omit<LineItem, 'id'> & Partial<Pick<LineItem, 'id'>>

export type Amounts = {
  readonly subtotal: number
  readonly tax: number
  readonly discount: number
  readonly total: number
  readonly lineItems: readonly ImportedItem[]
}

/** The amounts of a row as they were read: null in an empty cell, undefined if the file has no such column. */
export type AmountCells = {
  readonly [Name in 'subtotal' | 'tax' | 'discount' | 'total']?: string | number | null | undefined
} & { readonly lineItems?: readonly LineItemRow[] | null | undefined }

type StoredAmounts = Pick<Invoice, 'currency' | 'subtotal' | 'tax' | 'discount' | 'lineItems'>

/**
 * The amounts of a row in minor units.
 * @param before the stored invoice, if there is one: it keeps what the file has no column for
 * @throws RowRejectedError for amounts that do not add up, with both values
 */
export function invoiceAmounts(row: AmountCells, currency: string, before: StoredAmounts | null): Amounts {
  const kept = before ? keptAmounts(row, before) : {}
  const keptColumns = KEPT_COLUMNS.filter(([field]) => !isNothing(kept[field])).map(([, column]) => column)
  if (before && currency !== before.currency && keptColumns.length > 0)
    throw new RowRejectedError(`currency changes, so the row needs ${keptColumns.join(', ')} too`)
  const reader = amountReader(currency)
  const items: readonly ImportedItem[] =
    kept.lineItems ?? (row.lineItems ?? []).map((item, at) => lineItem(item, `line_items.${at}`, reader))
  const given = {
    subtotal: reader.money(row.subtotal, 'subtotal'),
    discount: reader.money(row.discount, 'discount_amount'),
    tax: reader.money(row.tax, 'tax_amount'),
    total: reader.money(row.total, 'total_amount'),
  }
  const subtotal = given.subtotal ?? kept.subtotal ?? subtotalOf(items)
  const discount = given.discount ?? kept.discount ?? sumOfLines(items, 'discount')
  const tax = given.tax ?? kept.tax ?? sumOfLines(items, 'tax')
  const total = given.total ?? subtotal - discount + tax
  if (items.length === 0 && given.subtotal === null && kept.subtotal === undefined)
    reader.issue('subtotal', 'is required without line_items')
  reader.areInRange({ subtotal, discount_amount: discount, tax_amount: tax, total_amount: total })
  // Sums of wrong amounts would be wrong too, and so would be the total after a wrong sum.
  reader.rejectIssues()
  if (items.length > 0) checkItems(items, { subtotal, discount, tax }, reader)
  reader.rejectIssues(keptColumns)
  reader.requireEqual(
    'total_amount',
    total,
    subtotal - discount + tax,
    'subtotal - discount_amount + tax_amount is',
  )
  if (total < 0) reader.issue('total_amount', 'must not be negative')
  const parts = keptColumns.filter((column) => column === 'discount_amount' || column === 'tax_amount')
  // Kept amounts belong to the former subtotal.
  if (before && subtotal !== before.subtotal && parts.length > 0)
    reader.issue('subtotal', `changes, so the row needs ${parts.join(', ')} too`)
  reader.rejectIssues(keptColumns)
  return { subtotal, discount, tax, total, lineItems: items }
}

type KeptAmounts = Partial<Omit<StoredAmounts, 'currency'>>

const KEPT_COLUMNS = [
  ['subtotal', 'subtotal'],
  ['discount', 'discount_amount'],
  ['tax', 'tax_amount'],
  ['lineItems', 'line_items'],
] as const satisfies [keyof KeptAmounts, string][]

const isNothing = (amount: number | readonly LineItem[] | undefined): boolean =>
  typeof amount === 'object' ? amount.length === 0 : !amount

/** The amounts that a stored invoice keeps. Sums of line items follow from the new ones, if the row has some. */
function keptAmounts(row: AmountCells, before: StoredAmounts): KeptAmounts {
  const hasItems = (row.lineItems ?? []).length > 0
  const follows = (of: 'discount' | 'tax') => hasItems && before[of] === sumOfLines(before.lineItems, of)
  return {
    ...(row.lineItems === undefined && { lineItems: before.lineItems }),
    ...(row.subtotal === undefined && !hasItems && { subtotal: before.subtotal }),
    ...(row.discount === undefined && !follows('discount') && { discount: before.discount }),
    ...(row.tax === undefined && !follows('tax') && { tax: before.tax }),
  }
}

/** Some systems round each line, others round the sum. Both are accepted. */
function checkItems(
  items: readonly ImportedItem[],
  { subtotal, discount, tax }: Omit<Amounts, 'total' | 'lineItems'>,
  reader: AmountReader,
): void {
  const how = 'the line items add up to'
  const lines = items.reduce((added, item) => added + lineAmount(item), 0)
  if (subtotal !== lines) reader.requireEqual('subtotal', subtotal, subtotalOf(items), how)
  if (!isSumOfLines(discount, items, 'discount'))
    reader.requireEqual('discount_amount', discount, sumOfLines(items, 'discount'), how)
  if (!isSumOfLines(tax, items, 'tax')) reader.requireEqual('tax_amount', tax, sumOfLines(items, 'tax'), how)
}

function lineItem(row: LineItemRow, path: string, reader: AmountReader): Omit<LineItem, 'id'> {
  const { description, doctor = null, treatment = null } = row
  const hasOwnDoctor = doctor === null ? undefined : (true as const)
  const given = { description, doctor, hasOwnDoctor, treatment }
  const at = (field: string) => `${path}.${field}`
  const quantity = reader.ratio(row.quantity, at('quantity')) ?? RATIO_SCALE
  const unitPrice = reader.money(row.unit_price, at('unit_price')) ?? 0
  const discountRate = reader.ratio(row.discount_rate, at('discount_rate')) ?? 0
  const taxRate = reader.ratio(row.tax_rate, at('tax_rate')) ?? 0
  const amount = lineAmount({ quantity, unitPrice })
  if (Math.abs(amount) > MAX_MINOR_UNITS) {
    reader.issue(at('unit_price'), 'is too large when multiplied by quantity')
    return { ...given, quantity, unitPrice, discount: 0, taxRate, tax: 0, total: 0 }
  }
  const discount =
    reader.money(row.discount_amount, at('discount_amount')) ?? percentageOf(amount, discountRate)
  const tax = reader.money(row.tax_amount, at('tax_amount')) ?? percentageOf(amount - discount, taxRate)
  const total = reader.money(row.total_amount, at('total_amount')) ?? amount - discount + tax
  if (!reader.areInRange({ tax_amount: tax, total_amount: total }, `${path}.`))
    return { ...given, quantity, unitPrice, discount, taxRate, tax: 0, total: 0 }
  if (total !== amount - discount + tax) {
    reader.issue(at('total_amount'), 'is not quantity x unit_price - discount_amount + tax_amount')
  }
  return { ...given, quantity, unitPrice, discount, taxRate, tax, total }
}

type AmountReader = ReturnType<typeof amountReader>

/** Reads decimals of one row, and collects what is wrong with them. */
function amountReader(currency: string) {
  const decimals = currencyDecimals(currency)
  const issues: string[] = []
  let disagrees = false
  const issue = (path: string, message: string) => void issues.push(`${path} ${message}`)
  const read = (
    value: string | number | null | undefined,
    path: string,
    places: number,
    unit: { readonly currency?: string },
  ): number | null => {
    if (value === null || value === undefined) return null
    const amount = checkDecimal(value, places, unit)
    if ('units' in amount) return amount.units
    issue(path, amount.issue)
    return 0
  }
  /** Whether computed amounts can be stored exactly; each that cannot becomes an issue. */
  const areInRange = (amounts: Record<string, number>, prefix = ''): boolean => {
    const outside = Object.entries(amounts).filter(([, value]) => Math.abs(value) > MAX_MINOR_UNITS)
    for (const [name] of outside) issue(`${prefix}${name}`, 'is too large')
    return outside.length === 0
  }
  return {
    issue,
    areInRange,
    money: (value: string | number | null | undefined, path: string) =>
      read(value, path, decimals, { currency }),
    ratio: (value: string | number | null | undefined, path: string) => read(value, path, RATIO_DECIMALS, {}),
    requireEqual: (field: string, stated: number, computed: number, how: string) => {
      if (stated === computed) return
      disagrees = true
      issue(field, `is ${renderMoney(stated, currency)}, but ${how} ${renderMoney(computed, currency)}`)
    },
    /** @throws RowRejectedError if there is an issue */
    rejectIssues: (keptColumns: readonly string[] = []) => {
      if (issues.length === 0) return
      if (disagrees && keptColumns.length > 0)
        issues.push(`without a column, the record keeps its ${keptColumns.join(', ')}: add what changes`)
      throw new RowRejectedError(issues.join('; '))
    },
  }
}
