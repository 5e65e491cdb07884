/** Amounts of an imported invoice: parsed exactly, computed where the row has none, checked where it has. */
import * as z from 'zod'
import { currencyDecimals } from '../../../shared/domain/currencies.ts'
import { type LineItem, lineAmount, subtotalOf, taxOn } from '../../../shared/domain/invoice.ts'
import {
  isTooLarge,
  MAX_MINOR_UNITS,
  parseDecimal,
  RATIO_SCALE,
  renderMoney,
} from '../../../shared/domain/money.ts'
import { singleLineText } from '../../../shared/domain/text-fields.ts'

/** A decimal number in JSON or CSV. The number of decimals is checked once the currency is known. */
export const Decimal = z.union([z.number(), z.string().trim()], { error: 'must be a number' })

const LineItemRow = z.strictObject(
  {
    // Accepted because exports of the API have it, but not used: line item ids are derived from the invoice's id.
    id: z.unknown().optional(),
    description: singleLineText(500),
    quantity: Decimal.nullish(),
    unit_price: Decimal,
    discount_amount: Decimal.nullish(),
    tax_rate: Decimal.nullish(),
    tax_amount: Decimal.nullish(),
    total_amount: Decimal.nullish(),
  },
  { error: 'must be an object with description and unit_price' },
)

type LineItemRow = z.infer<typeof LineItemRow>

/** Line items: a list in NDJSON, a JSON array in a CSV cell. */
export const LineItems = z.preprocess(
  (value) => (typeof value === 'string' ? parseJson(value) : value),
  z
    .array(LineItemRow, { error: 'must be a JSON array of line items' })
    .max(200, { error: 'must have at most 200 line items' }),
)

export type Amounts = {
  readonly subtotal: number
  readonly tax: number
  readonly discount: number
  readonly total: number
  readonly lineItems: readonly Omit<LineItem, 'id'>[]
}

type InvoiceRow = {
  subtotal?: string | number | null | undefined
  tax_amount?: string | number | null | undefined
  discount_amount?: string | number | null | undefined
  total_amount?: string | number | null | undefined
  line_items?: LineItemRow[] | null | undefined
}

const RATIO_DECIMALS = Math.log10(RATIO_SCALE)

/** The amounts of a row in minor units. An amount that does not add up becomes an issue with both values. */
export function invoiceAmounts(row: InvoiceRow, currency: string, context: z.RefinementCtx): Amounts {
  const reader = amountReader(currency, context)
  const items = (row.line_items ?? []).map((item, index) => lineItem(item, ['line_items', index], reader))
  const given = {
    subtotal: reader.money(row.subtotal, ['subtotal']),
    discount: reader.money(row.discount_amount, ['discount_amount']),
    tax: reader.money(row.tax_amount, ['tax_amount']),
    total: reader.money(row.total_amount, ['total_amount']),
  }
  const sum = (of: 'discount' | 'tax') => items.reduce((total, item) => total + item[of], 0)
  const hasItems = items.length > 0
  const subtotal = given.subtotal ?? subtotalOf(items)
  const discount = given.discount ?? sum('discount')
  const tax = given.tax ?? sum('tax')
  const total = given.total ?? subtotal - discount + tax
  if (!reader.areInRange({ subtotal, discount_amount: discount, tax_amount: tax, total_amount: total }))
    return NO_AMOUNTS
  if (hasItems) {
    // Some systems round each line, others round the sum. Accept both.
    const lines = items.reduce((added, item) => added + lineAmount(item), 0)
    if (subtotal !== lines)
      reader.requireEqual('subtotal', subtotal, subtotalOf(items), 'the line items add up to')
    if (sum('discount') !== 0)
      reader.requireEqual('discount_amount', discount, sum('discount'), 'the line items add up to')
    if (sum('tax') !== 0) reader.requireEqual('tax_amount', tax, sum('tax'), 'the line items add up to')
  }
  if (!hasItems && given.subtotal === null) reader.issue(['subtotal'], 'is required without line_items')
  reader.requireEqual(
    'total_amount',
    total,
    subtotal - discount + tax,
    'subtotal - discount_amount + tax_amount is',
  )
  if (total < 0) reader.issue(['total_amount'], 'must not be negative')
  return { subtotal, discount, tax, total, lineItems: items }
}

/** Stands for amounts that were rejected. */
const NO_AMOUNTS: Amounts = { subtotal: 0, tax: 0, discount: 0, total: 0, lineItems: [] }

type AmountReader = ReturnType<typeof amountReader>
type Path = (string | number)[]

function amountReader(currency: string, context: z.RefinementCtx) {
  const decimals = currencyDecimals(currency)
  const issue = (path: Path, message: string) => context.addIssue({ code: 'custom', path, message })
  const read = (
    value: string | number | null | undefined,
    path: Path,
    places: number,
    name: string,
  ): number | null => {
    if (value === null || value === undefined) return null
    const units = parseDecimal(value, places)
    if (units === null && isTooLarge(value, places)) issue(path, 'is too large')
    else if (units === null) issue(path, `must be a number with at most ${places} decimals${name}`)
    else if (units < 0) issue(path, 'must not be negative')
    return units ?? 0
  }
  /** Whether computed amounts can be stored exactly; otherwise each that cannot becomes an issue. */
  const areInRange = (amounts: Record<string, number>, path: Path = []): boolean => {
    const outside = Object.entries(amounts).filter(([, value]) => Math.abs(value) > MAX_MINOR_UNITS)
    for (const [name] of outside) issue([...path, name], 'is too large')
    return outside.length === 0
  }
  return {
    issue,
    areInRange,
    money: (value: string | number | null | undefined, path: Path) =>
      read(value, path, decimals, ` in ${currency}`),
    ratio: (value: string | number | null | undefined, path: Path) => read(value, path, RATIO_DECIMALS, ''),
    requireEqual: (field: string, stated: number, computed: number, how: string) => {
      if (stated === computed) return
      issue([field], `is ${renderMoney(stated, currency)}, but ${how} ${renderMoney(computed, currency)}`)
    },
  }
}

function lineItem(row: LineItemRow, path: Path, reader: AmountReader): Required<Omit<LineItem, 'id'>> {
  const at = (field: string) => [...path, field]
  const quantity = reader.ratio(row.quantity, at('quantity')) ?? RATIO_SCALE
  const unitPrice = reader.money(row.unit_price, at('unit_price')) ?? 0
  const discount = reader.money(row.discount_amount, at('discount_amount')) ?? 0
  const taxRate = reader.ratio(row.tax_rate, at('tax_rate')) ?? 0
  const amount = lineAmount({ quantity, unitPrice })
  if (Math.abs(amount) > MAX_MINOR_UNITS) {
    reader.issue(at('unit_price'), 'is too large when multiplied by quantity')
    return { description: row.description, quantity, unitPrice, discount, taxRate, tax: 0, total: 0 }
  }
  const tax = reader.money(row.tax_amount, at('tax_amount')) ?? taxOn(amount - discount, taxRate)
  const total = reader.money(row.total_amount, at('total_amount')) ?? amount - discount + tax
  if (!reader.areInRange({ tax_amount: tax, total_amount: total }, path))
    return { description: row.description, quantity, unitPrice, discount, taxRate, tax: 0, total: 0 }
  if (total !== amount - discount + tax) {
    reader.issue(at('total_amount'), 'is not quantity x unit_price - discount_amount + tax_amount')
  }
  return { description: row.description, quantity, unitPrice, discount, taxRate, tax, total }
}

/** The value of JSON text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
