/** Records of the API as lines of text, with all decimals of their amounts. The API and `--json` have numbers. */
import { formatWeeklyHours, formatWindows } from '../../../shared/domain/booking/working-hours.ts'
import { currencyDecimals } from '../../../shared/domain/money/currencies.ts'
import { formatTable } from './output.ts'

/** A line for each field. The parts of a list, such as line items, follow with a line each, under the names of their fields. */
export function describeRecord(record: object): string[] {
  const fields = Object.entries(withAmountTexts(record))
  const parts = fields.flatMap(([name, value]) => (isPartList(value) ? [[name, value] as const] : []))
  const rows = fields.flatMap(([name, value]) => {
    if (isPartList(value)) return []
    if (!isGroup(value)) return [[name, describeValue(value)]]
    return Object.entries(value).map(([part, one]) => [`${name}.${part}`, describeValue(one)])
  })
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

/** Whether an object has fields of its record, and is no reference to another one. */
const isGroup = (value: unknown): value is object =>
  value !== null &&
  typeof value === 'object' &&
  !Array.isArray(value) &&
  !('id' in value) &&
  scheduleText(value) === undefined

type ApiWindow = { readonly start_time: string; readonly end_time: string }

/** The hours of weekdays or of dates, as options and import files have them; undefined for any other object. */
export function scheduleText(value: object): string | undefined {
  const days = Object.entries(value) as [string, readonly ApiWindow[]][]
  if (!days.every(([day]) => /^(mon|tue|wed|thu|fri|sat|sun|\d{4}-\d\d-\d\d)$/.test(day))) return undefined
  const windows = days.map(
    ([day, list]) => [day, list.map(({ start_time: start, end_time: end }) => ({ start, end }))] as const,
  )
  if ('mon' in value) return formatWeeklyHours(Object.fromEntries(windows))
  return windows.map(([date, list]) => `${date} ${formatWindows(list) || 'off'}`).join('; ')
}

function describeValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(describeValue).join(', ')
  if (typeof value === 'object')
    return scheduleText(value) ?? Object.values(value).map(describeValue).join(' ')
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
