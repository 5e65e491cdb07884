/** Amounts as text that a person reads, with all decimals of their currency. The API and `--json` have numbers. */
import { currencyDecimals } from '../../../shared/domain/money/currencies.ts'
import { renderMoney } from '../../../shared/domain/money/money.ts'

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

/** An amount in minor units with its currency: `5000` is `50.00 EUR`. */
export const formatMinor = (minor: number, currency: string): string =>
  `${formatAmount(renderMoney(minor, currency), currency)} ${currency}`

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
