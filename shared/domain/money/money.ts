/**
 * Amounts of money are safe integers in minor units of the currency (cents, fils), never fractions. Products with
 * quantities and rates are calculated with BigInt.
 */
import { currencyDecimals } from './currencies.ts'

/** Larger than any invoice, and below Number.MAX_SAFE_INTEGER. */
export const MAX_MINOR_UNITS = 999_999_999_999_999

/** Quantities and tax rates have at most four decimals and are stored as ten-thousandths. */
export const RATIO_DECIMALS = 4
export const RATIO_SCALE = 10 ** RATIO_DECIMALS

/**
 * Parses a decimal such as `1250.5` into units of 10^-decimals. Null if it has more decimals, is too large or is not a plain
 * decimal.
 */
export function parseDecimal(value: string | number, decimals: number): number | null {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d{1,15})(?:\.(\d*))?$/.exec(String(value)) ?? []
  if (sign === undefined || fraction.replace(/0+$/, '').length > decimals) return null
  const units = Number(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
  if (units > MAX_MINOR_UNITS) return null
  return sign === '-' && units !== 0 ? -units : units
}

/** Units of 10^-decimals that are not negative, or what is wrong with a value. */
export function checkDecimal(
  value: string | number,
  decimals: number,
  { currency = '', positive = false } = {},
): { readonly units: number } | { readonly issue: string } {
  const units = parseDecimal(value, decimals)
  if (units === null && Number(value) > MAX_MINOR_UNITS / 10 ** decimals) return { issue: 'is too large' }
  if (units === null || (positive && units <= 0)) {
    const number = `${positive ? 'positive ' : ''}number with at most ${decimals} decimals`
    return { issue: `must be a ${number}${currency === '' ? '' : ` in ${currency}`}` }
  }
  return units < 0 ? { issue: 'must not be negative' } : { units }
}

/** {@link checkDecimal} in minor units of a currency. */
export const checkMoney = (value: string | number, currency: string, positive = false) =>
  checkDecimal(value, currencyDecimals(currency), { currency, positive })

/** Units of 10^-decimals as a JSON number: `125050` with 2 decimals is `1250.5`. */
export function renderDecimal(units: number, decimals: number): number {
  const digits = String(Math.abs(units)).padStart(decimals + 1, '0')
  const at = digits.length - decimals
  return Number(`${units < 0 ? '-' : ''}${digits.slice(0, at)}.${digits.slice(at)}`)
}

export const renderMoney = (minor: number, currency: string): number =>
  renderDecimal(minor, currencyDecimals(currency))

/** The sum of amounts, exact even if the sum of some of them is no safe integer. */
export const sumOf = (amounts: readonly number[]): number =>
  Number(amounts.reduce((sum, amount) => sum + BigInt(amount), 0n))

/** numerator / denominator, rounded half away from zero. */
export function divideHalfUp(numerator: bigint, denominator: bigint): number {
  const magnitude = numerator < 0n ? -numerator : numerator
  const rounded = Number((2n * magnitude + denominator) / (2n * denominator))
  return numerator < 0n && rounded !== 0 ? -rounded : rounded
}
