/** Records of the API as lines of text, with all decimals of their amounts. The API and `--json` have numbers. */

import { currencyDecimals } from '../../../shared/domain/money/currencies.ts'
import type { ClinicContext } from '../tool/connection.ts'
import { formatTable } from '../tool/output.ts'

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

/** A line for each record, with cells besides the id. */
export const recordTable = <Wire extends { readonly id: string }>(
  { cells }: { readonly cells: (record: Wire) => readonly string[] },
  records: readonly Wire[],
): string[] => formatTable(records.map((record) => [record.id, ...cells(record)]))

/** A note on the timezone of the records' clock times, if the records do not contain it. */
export const clockNotes = (
  { hasClockTimes }: { readonly hasClockTimes?: true },
  { clinic }: ClinicContext,
): string[] => (hasClockTimes ? [timesAreIn(clinic)] : [])

/** A sentence that names the timezone of a clinic's times. */
export const timesAreIn = ({ timezone }: ClinicContext['clinic']): string => `Times are in ${timezone}.`

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
export const formatAmount = (amount: number, currency: string): string =>
  amount.toFixed(currencyDecimals(currency))

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
