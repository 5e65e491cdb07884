/**
 * The amounts of an invoice that is imported or created by a request: read exactly, and calculated from its line items in this order.
 * A line: quantity x unit price, rounded; its discount at a rate of that, rounded; its tax at a rate of what is left, rounded.
 * The invoice: the sum of quantity x unit price, rounded once; discount and tax are the sums of those of the lines.
 * Roundings are half up to the minor unit of the currency.
 */
import { currencyDecimals } from './currencies.ts'
import {
  type Invoice,
  isSumOfLines,
  type LineItem,
  lineAmount,
  percentageOf,
  subtotalOf,
  sumOfLines,
} from './invoice.ts'
import { checkDecimal, MAX_MINOR_UNITS, RATIO_DECIMALS, RATIO_SCALE, renderMoney } from './money.ts'

/** Amounts that cannot be read, or that do not add up. */
export class InvalidAmounts extends Error {
  /** The fields as requests and import files name them. */
  readonly issues: readonly { readonly field: string; readonly issue: string }[]

  constructor(issues: InvalidAmounts['issues'], note?: string) {
    super([...issues.map(({ field, issue }) => `${field} ${issue}`), ...(note ? [note] : [])].join('; '))
    this.issues = issues
  }
}

/** A decimal as it was read: undefined or null if it is not given. The number of decimals is checked. */
type Given = string | number | null | undefined

/** A line item as it was read. What is not given is calculated. */
export type GivenLine = Pick<LineItem, 'description'> &
  Partial<Pick<LineItem, 'doctor' | 'treatment'>> & {
    readonly quantity?: Given
    readonly unitPrice: string | number
    readonly discount?: Given
    readonly discountRate?: Given
    readonly taxRate?: Given
    readonly tax?: Given
    readonly total?: Given
  }

/** Line items that are kept have their ids. */
type CalculatedLine = Omit<LineItem, 'id'> & Partial<Pick<LineItem, 'id'>>

export type Amounts = {
  readonly subtotal: number
  readonly tax: number
  readonly discount: number
  readonly total: number
  readonly lineItems: readonly CalculatedLine[]
}

/** The amounts of an invoice as they were read: null for none, undefined for what a stored invoice keeps. */
export type GivenAmounts = {
  readonly [Name in 'subtotal' | 'tax' | 'discount' | 'total']?: Given
} & { readonly lineItems?: readonly GivenLine[] | null | undefined }

type StoredAmounts = Pick<Invoice, 'currency' | 'subtotal' | 'tax' | 'discount' | 'lineItems'>

/**
 * The amounts of an invoice in minor units.
 * @param before the stored invoice, if there is one: it keeps what is not given
 * @throws InvalidAmounts for amounts that do not add up, with both values
 */
export function invoiceAmounts(row: GivenAmounts, currency: string, before: StoredAmounts | null): Amounts {
  const kept = before ? keptAmounts(row, before) : {}
  const keptColumns = KEPT_COLUMNS.filter(([field]) => !isNothing(kept[field])).map(([, column]) => column)
  if (before && currency !== before.currency && keptColumns.length > 0)
    throw new InvalidAmounts([
      { field: 'currency', issue: `changes, so the row needs ${keptColumns.join(', ')} too` },
    ])
  const reader = amountReader(currency)
  const items: readonly CalculatedLine[] =
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
function keptAmounts(row: GivenAmounts, before: StoredAmounts): KeptAmounts {
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
  items: readonly CalculatedLine[],
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

function lineItem(row: GivenLine, path: string, reader: AmountReader): Omit<LineItem, 'id'> {
  const { description, doctor = null, treatment = null } = row
  const hasOwnDoctor = doctor === null ? undefined : (true as const)
  const given = { description, doctor, hasOwnDoctor, treatment }
  const at = (field: string) => `${path}.${field}`
  const quantity = reader.ratio(row.quantity, at('quantity')) ?? RATIO_SCALE
  const unitPrice = reader.money(row.unitPrice, at('unit_price')) ?? 0
  const discountRate = reader.ratio(row.discountRate, at('discount_rate')) ?? 0
  const taxRate = reader.ratio(row.taxRate, at('tax_rate')) ?? 0
  const amount = lineAmount({ quantity, unitPrice })
  if (Math.abs(amount) > MAX_MINOR_UNITS) {
    reader.issue(at('unit_price'), 'is too large when multiplied by quantity')
    return { ...given, quantity, unitPrice, discount: 0, taxRate, tax: 0, total: 0 }
  }
  const discount = reader.money(row.discount, at('discount_amount')) ?? percentageOf(amount, discountRate)
  const tax = reader.money(row.tax, at('tax_amount')) ?? percentageOf(amount - discount, taxRate)
  const total = reader.money(row.total, at('total_amount')) ?? amount - discount + tax
  if (!reader.areInRange({ tax_amount: tax, total_amount: total }, `${path}.`))
    return { ...given, quantity, unitPrice, discount, taxRate, tax: 0, total: 0 }
  if (total !== amount - discount + tax) {
    reader.issue(at('total_amount'), 'is not quantity x unit_price - discount_amount + tax_amount')
  }
  return { ...given, quantity, unitPrice, discount, taxRate, tax, total }
}

type AmountReader = ReturnType<typeof amountReader>

/** Reads the decimals of an invoice, and collects what is wrong with them. */
function amountReader(currency: string) {
  const decimals = currencyDecimals(currency)
  const issues: { field: string; issue: string }[] = []
  let disagrees = false
  const issue = (field: string, message: string) => void issues.push({ field, issue: message })
  const read = (
    value: Given,
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
    money: (value: Given, path: string) => read(value, path, decimals, { currency }),
    ratio: (value: Given, path: string) => read(value, path, RATIO_DECIMALS, {}),
    requireEqual: (field: string, stated: number, computed: number, how: string) => {
      if (stated === computed) return
      disagrees = true
      issue(field, `is ${renderMoney(stated, currency)}, but ${how} ${renderMoney(computed, currency)}`)
    },
    /** @throws InvalidAmounts if there is an issue */
    rejectIssues: (keptColumns: readonly string[] = []) => {
      if (issues.length === 0) return
      const kept = `without a column, the record keeps its ${keptColumns.join(', ')}: add what changes`
      throw new InvalidAmounts(issues, disagrees && keptColumns.length > 0 ? kept : undefined)
    },
  }
}
