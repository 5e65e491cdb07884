/** How the values of a file's columns are written. */
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { Column } from './read-samples.ts'

/** The share of a column's values that show what it has: some are wrong in every file. */
const MOST = 0.8

const most = ({ values }: Column, test: (value: string) => boolean): boolean =>
  values.length > 0 && values.filter(test).length >= values.length * MOST

const DATE =
  /^(?<a>\d{1,4})(?<sep>[./-] ?)(?<b>\d{1,2})[./-] ?(?<c>\d{4}|\d{2}|\d(?=\.?$|\.?[, T]))(?<end>\.?)(?:$|(?:,?\s+|T)(?<time>\d.*)$)/
const NAMED_DATE =
  /^(?<a>\d{1,2})(?<sep>\.?[ -])(?<month>\p{L}{3,}\.?)[ -](?<c>\d{4}|\d{2})(?:$|,?\s+(?<time>\d.*)$)/u
/** `Jan 7, 2026` */
const MONTH_FIRST = /^(?<month>\p{L}{3,}\.?) (?<a>\d{1,2})(?<end>,?) (?<c>\d{4})(?:$|,?\s+(?<time>\d.*)$)/u
const TIME = /^\d{1,2}[:.h]\d\d([:.]\d\d(\.\d+)?)?(\s?Uhr)?(\s?[ap]\.?\s?m\.?)?\s*(Z|[+-]\d\d:?\d\d)?$/i

const TIME_RANGE = /^(\d{1,2})[:.](\d\d)\s*[-–]\s*(\d{1,2})[:.](\d\d)$/

type Groups = { readonly [name: string]: string | undefined }

const dateParts = (text: string): Groups | undefined =>
  [DATE, NAMED_DATE, MONTH_FIRST].map((form) => form.exec(text)).find((found) => found !== null)?.groups

export const isDate = (column: Column): boolean => most(column, (text) => dateParts(text) !== undefined)
export const isTime = (column: Column): boolean =>
  !isDate(column) && !isTimeRange(column) && most(column, (text) => TIME.test(text))
export const isDateTime = (column: Column): boolean =>
  isDate(column) && column.values.some((text) => dateParts(text)?.time !== undefined)
/** Whether it has a time and a later one, such as `9:00-9:30`. */
export const isTimeRange = (column: Column): boolean =>
  most(column, (text) => {
    const [, hour, minute, endHour, endMinute] = TIME_RANGE.exec(text)?.map(Number) ?? []
    return Number(endHour) * 60 + Number(endMinute) > Number(hour) * 60 + Number(minute)
  })
export const isEmail = (column: Column): boolean => most(column, (text) => /^\S+@\S+\.\S+$/.test(text))
export const isPhone = (column: Column): boolean =>
  most(column, (text) => /^[+(]?\d[\d\s()/.-]{6,}$/.test(text) && text.replace(/\D/g, '').length >= 7) &&
  !isDate(column)
/** Whether it has two words or more, or a comma. */
export const isWholeName = (column: Column): boolean => most(column, (text) => /\S[\s,]+\p{L}/u.test(text))

/** Phone numbers of a column that tell the country. */
const MAX_NUMBERS = 200

/** The country in whose numbering plan most of the phone numbers are valid, mobile numbers above all; the first of several. */
export function countryOf(phones: readonly Column[], countries: readonly string[]): string | undefined {
  const numbers = phones.flatMap(({ values }) => values.slice(0, MAX_NUMBERS))
  const counted = countries.map((country) => {
    const types = numbers.map((text) => typeOf(text, country)).filter((type) => type !== undefined)
    return { country, valid: types.length, mobile: types.filter((type) => type.includes('MOBILE')).length }
  })
  const [best] = counted.sort((a, b) => b.valid + b.mobile - a.valid - a.mobile)
  return best && best.valid >= numbers.length / 2 ? best.country : undefined
}

const typeOf = (text: string, country: string) =>
  parsePhoneNumberFromString(text, country as CountryCode)?.getType()

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
    ...columns
      .filter(isTimeRange)
      .flatMap(({ values }) => values.flatMap((text) => text.split(/\s*[-–]\s*/))),
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
  if (month !== undefined && sep === '') return [`MMM D${end} ${year}`]
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
