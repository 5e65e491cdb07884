/** How the values of a file's columns are written. */
import type { Column } from './read-samples.ts'

/** The share of a column's values that show what it has: some are wrong in every file. */
const MOST = 0.8

const most = ({ values }: Column, test: (value: string) => boolean): boolean =>
  values.length > 0 && values.filter(test).length >= values.length * MOST

const DATE =
  /^(?<a>\d{1,4})(?<sep>[./-] ?)(?<b>\d{1,2})[./-] ?(?<c>\d{4}|\d{2}|\d(?=\.?$|\.?[, T]))(?<end>\.?)(?:$|(?:,?\s+|T)(?<time>\d.*)$)/
const NAMED_DATE =
  /^(?<a>\d{1,2})(?<sep>\.?[ -])(?<month>\p{L}{3,}\.?)[ -](?<c>\d{4}|\d{2})(?:$|,?\s+(?<time>\d.*)$)/u
const TIME = /^\d{1,2}[:.h]\d\d([:.]\d\d(\.\d+)?)?(\s?Uhr)?(\s?[ap]\.?\s?m\.?)?\s*(Z|[+-]\d\d:?\d\d)?$/i

type Groups = { readonly [name: string]: string | undefined }

const dateParts = (text: string): Groups | undefined => (DATE.exec(text) ?? NAMED_DATE.exec(text))?.groups

export const isDate = (column: Column): boolean => most(column, (text) => dateParts(text) !== undefined)
export const isTime = (column: Column): boolean => !isDate(column) && most(column, (text) => TIME.test(text))
export const isDateTime = (column: Column): boolean =>
  isDate(column) && column.values.some((text) => dateParts(text)?.time !== undefined)
export const isEmail = (column: Column): boolean => most(column, (text) => /^\S+@\S+\.\S+$/.test(text))
export const isPhone = (column: Column): boolean =>
  most(column, (text) => /^[+(]?\d[\d\s()/.-]{6,}$/.test(text) && text.replace(/\D/g, '').length >= 7) &&
  !isDate(column)
/** Whether it has two words or more, or a comma. */
export const isWholeName = (column: Column): boolean => most(column, (text) => /\S[\s,]+\p{L}/u.test(text))

/** Countries by how numbers of phones are written without a code. */
const NUMBERS = {
  US: /^\(?[2-9]\d\d\)?[ .-]?\d{3}[ .-]\d{4}$/,
  GB: /^07\d{3} ?\d{3} ?\d{3}$/,
  AU: /^04\d\d ?\d{3} ?\d{3}$/,
}

/** The country in whose form most of the phone numbers are. */
export const countryOf = (phones: readonly Column[]): string | undefined =>
  Object.entries(NUMBERS).find(([, form]) =>
    phones.some((column) => most(column, (text) => form.test(text))),
  )?.[0]

export type Formats = {
  readonly dates: readonly string[]
  readonly times: readonly string[]
  readonly decimal: 'comma' | 'point' | undefined
  /** Whether day and month could be told apart. */
  readonly isSure: boolean
}

/**
 * @param amounts the columns of amounts
 * @param others the columns of all files: their dates may tell days and months apart
 */
export function guessFormats(
  columns: readonly Column[],
  amounts: readonly Column[],
  others: readonly Column[],
): Formats {
  const groups = datesOf(columns)
  const times = [
    ...groups.flatMap(({ time }) => (time === undefined ? [] : [time])),
    ...columns.filter(isTime).flatMap(({ values }) => values),
  ]
  const numeric = datesOf(others).filter(({ a = '', month }) => month === undefined && a.length <= 2)
  const isDayFirst = numeric.some(({ a, sep = '' }) => sep.startsWith('.') || Number(a) > 12)
  const isMonthFirst = numeric.some(({ b, sep = '' }) => !sep.startsWith('.') && Number(b) > 12)
  const isHalfDay = times.some((text) => /[ap]\.?\s?m/i.test(text))
  const monthFirst = isMonthFirst || (!isDayFirst && isHalfDay)
  return {
    dates: [...new Set(groups.flatMap((parts) => dateFormat(parts, monthFirst)))],
    times: [...new Set(times.flatMap(timeFormat))],
    decimal: decimalOf(amounts.flatMap(({ values }) => values)),
    isSure: groups.length === 0 || numeric.length === 0 || isDayFirst !== isMonthFirst,
  }
}

const datesOf = (columns: readonly Column[]): Groups[] =>
  columns
    .filter(isDate)
    .flatMap(({ values }) => values.map(dateParts))
    .filter((parts) => parts !== undefined)

/** Nothing for a date that is always read. */
function dateFormat({ a = '', sep = '', month, c = '', end = '' }: Groups, monthFirst: boolean): string[] {
  const year = c.length === 4 ? 'YYYY' : 'YY'
  if (month !== undefined) return [`D${sep}MMM${sep.slice(-1)}${year}`]
  if (a.length === 4) return sep === '-' && c.length === 2 ? [] : [`YYYY${sep}M${sep}D${end}`]
  return [monthFirst && !sep.startsWith('.') ? `M${sep}D${sep}${year}${end}` : `D${sep}M${sep}${year}${end}`]
}

function timeFormat(text: string): string[] {
  const [, separator = '', seconds, word = '', gap, half, zoneGap = '', zone] =
    /^\d{1,2}([:.h])\d\d(?:([:.]\d\d)(?:\.\d+)?)?(\s?Uhr)?(?:(\s?)([ap])\.?\s?m\.?)?(?:(\s*)(Z|[+-]\d\d:?\d\d))?$/i.exec(
      text,
    ) ?? []
  if (separator === '') return []
  const rest = seconds === undefined ? '' : `${separator}ss`
  const unit = word.replace(/\p{L}+/u, "'$&'")
  const end = `${unit}${half === undefined ? '' : `${gap}a`}${zone === undefined ? '' : `${zoneGap}Z`}`
  return [`${half === undefined ? 'H' : 'h'}${separator.replace(/h/i, "'$&'")}mm${rest}${end}`]
}

/** The sign before the last one or two digits. */
function decimalOf(texts: readonly string[]): 'comma' | 'point' | undefined {
  const count = (pattern: RegExp) => texts.filter((text) => pattern.test(text)).length
  const commas = count(/,\d{1,2}(?!\d)[^\d]*$/) + count(/\d\.\d{3},/)
  const points = count(/\.\d{1,2}(?!\d)[^\d]*$/) + count(/\d,\d{3}\./)
  if (commas === 0 && points === 0) return texts.length > 0 ? 'point' : undefined
  return commas > points ? 'comma' : 'point'
}
