/** Numbers and amounts of money as files write them. */
import { CURRENCIES } from '../../../../shared/domain/money/currencies.ts'
import { Problem } from '../files/problems.ts'

/** What stands before the decimals. */
export type DecimalMark = ',' | '.'

/** Separators of thousands are the same throughout a number. */
const NUMBER = {
  ',': /^(?:\d{1,3}(?:([.\p{Zs}'’])\d{3})(?:\1\d{3})*|\d+)(?:,\d+)?$/u,
  // In India, groups have two digits, apart from the last: 12,34,567.50.
  '.': /^(?:\d{1,3}(?:([,\p{Zs}'’])\d{3})(?:\1\d{3})*|\d{1,2}(?:,\d\d)+,\d{3}|\d+)(?:\.\d+)?$/u,
}

/** Whether a unit is the code of a currency, or one of its signs. */
export const isSignOf = (currency: string, unit: string): boolean =>
  CURRENCIES.includes(currency) && signsOf(currency).includes(unit.toLowerCase())

function signsOf(currency: string): readonly string[] {
  const all: string[] = []
  for (const currencyDisplay of ['code', 'symbol', 'narrowSymbol'] as const) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay })
    for (const { type, value } of format.formatToParts(0))
      if (type === 'currency') all.push(value.toLowerCase())
  }
  return all
}

/** Right-to-left scripts have them around minus signs and currencies. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f]/g

/**
 * A plain decimal, without separators of thousands and its unit. `(12.50)` and `12.50-` are negative.
 * @throws Problem if it is no number, or has another unit
 */
export function readDecimal(
  text: string,
  mark: DecimalMark,
  { name, isUnit }: { readonly name: string; readonly isUnit: (unit: string) => boolean },
): string {
  const notANumber = new Problem(`is not a number such as ${mark === ',' ? '1.234,50' : '1,234.50'}`)
  const [, before = '', digits = '', after = ''] =
    /^(\D*)(\d(?:.*\d)?)(\D*)$/s.exec(text.replace(/[−–]/g, '-').replace(DIRECTION_MARKS, '').trim()) ?? []
  const units = [before.replace(/[-(\s]/g, ''), after.replace(/[-)\s]/g, '')]
    .map((unit) => unit.normalize('NFKC').replace(/(?<=\p{L})\.$/u, ''))
    .filter((unit) => unit !== '')
  const signs = before.split(/[-(]/).length + after.split('-').length - 2
  const isClosed = before.split('(').length === after.split(')').length
  if (!NUMBER[mark].test(digits) || signs > 1 || !isClosed) throw notANumber
  if (!units.every((unit) => /^[^.,()\p{N}]+$/u.test(unit))) throw notANumber
  if (!units.every(isUnit))
    throw new Problem(
      name === '' ? 'has a unit, and none is known' : `has a unit that is not known to be ${name}`,
    )
  const number = digits.replace(mark === ',' ? /[^\d,]/g : /[^\d.]/g, '').replace(',', '.')
  return signs === 1 ? `-${number}` : number
}
