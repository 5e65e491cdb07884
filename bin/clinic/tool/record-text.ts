/** Records of the API as lines of text, with all decimals of their amounts. The API and `--json` have numbers. */
import { currencyDecimals } from '../../../shared/domain/money/currencies.ts'
import { formatTable } from './output.ts'

/** A line for each field. The parts of a list, such as line items, follow with a line each, under the names of their fields. */
export function describeRecord(record: object): string[] {
  const fields = Object.entries(withAmountTexts(record))
  const parts = fields.flatMap(([name, value]) => (isPartList(value) ? [[name, value] as const] : []))
  const rows = fields
    .filter(([, value]) => !isPartList(value))
    .map(([name, value]) => [name, describeValue(value)])
  return [
    ...formatTable(rows),
    ...parts.flatMap(([name, list]) => [`${name}:`, ...formatTable(partRows(list))]),
  ]
}

/** The names of the fields, then a row for each part. */
function partRows(list: readonly object[]): string[][] {
  const names = [...new Set(list.flatMap((part) => Object.keys(part)))]
  const rows = list.map((part) => {
    const values = new Map(Object.entries(part))
    return ['', ...names.map((name) => describeValue(values.get(name)))]
  })
  return [['', ...names], ...rows]
}

const isPartList = (value: unknown): value is readonly object[] =>
  Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === 'object')

function describeValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(describeValue).join(', ')
  if (typeof value === 'object') return Object.values(value).map(describeValue).join(' ')
  return String(value).replaceAll('\n', '\n  ')
}

/** The fields of invoices, line items and payments that are amounts. Quantities and tax rates are not. */
const AMOUNTS: ReadonlySet<string> = new Set([
  'amount',
  'balance_due',
  'discount_amount',
  'paid_amount',
  'price',
  'subtotal',
  'tax_amount',
  'total_amount',
  'unit_price',
])

/** An amount in units of its currency: `50` is `50.00` in EUR. */
const formatAmount = (amount: number, currency: string): string => amount.toFixed(currencyDecimals(currency))

/** The record with its amounts as text, including the amounts of its parts: they are in its currency unless a part has its own. */
export function withAmountTexts(record: object, outer?: string): object {
  const currency = 'currency' in record && typeof record.currency === 'string' ? record.currency : outer
  if (currency === undefined) return record
  const textOf = (name: string, value: unknown): unknown => {
    if (typeof value === 'number' && AMOUNTS.has(name)) return formatAmount(value, currency)
    if (Array.isArray(value)) return value.map((part) => textOf(name, part))
    return value !== null && typeof value === 'object' ? withAmountTexts(value, currency) : value
  }
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, textOf(name, value)]))
}
