/** How other systems write dates, times, durations and amounts. */
import { instantOf } from '../../../../shared/domain/clock.ts'
import { CURRENCIES } from '../../../../shared/domain/money/currencies.ts'
import { clinicTimestamp, isCalendarDate } from '../../../../shared/domain/timestamp.ts'
import { type Parts, patternOf } from './format-patterns.ts'

export type DateFormats = {
  readonly dates: readonly string[]
  /** The language of names of months: a tag such as `pl`. */
  readonly language: string
  /** The last date that two digits of a year can mean. */
  readonly latest: string
}

export type DateAndTimeFormats = DateFormats & {
  readonly times: readonly string[]
  /** The time zone of times without an offset, and of the clinic. */
  readonly timezone: string
}

/** The value of a text in the first format that matches and is valid; null if there is none. */
function firstMatch<T>(text: string, formats: readonly string[], read: (parts: Parts) => T | null): T | null {
  for (const format of formats) {
    const parts = patternOf(format).exec(text.trim())?.groups
    const found = parts ? read(parts) : null
    if (found !== null) return found
  }
  return null
}

const two = (value: number | string): string => String(value).padStart(2, '0')

/** The date of a text as `YYYY-MM-DD`; null if it has none of the formats, or does not exist. */
export const readDate = (text: string, { dates, language, latest }: DateFormats): string | null =>
  firstMatch(text, ['YYYY-MM-DD', ...dates], ({ year, shortYear, month, monthName, day = '' }) => {
    const number = monthName === undefined ? month : monthNumber(monthName, language)
    const monthAndDay = `${two(number ?? '')}-${two(day)}`
    const date = `${year ?? fullYear(shortYear ?? '', monthAndDay, latest)}-${monthAndDay}`
    return isCalendarDate(date) ? date : null
  })

/** The last year of two digits in which the day is not after `latest`. */
function fullYear(shortYear: string, monthAndDay: string, latest: string): string {
  const century = Number(latest.slice(0, 2))
  return `${century}${shortYear}-${monthAndDay}` > latest
    ? `${century - 1}${shortYear}`
    : `${century}${shortYear}`
}

const monthNames = new Map<string, readonly string[][]>()

/** The number of the only month whose name in a language begins so; 0 if there is none. */
function monthNumber(name: string, language: string): number {
  const known = monthNames.get(language) ?? Array.from({ length: 12 }, (_, at) => namesOfMonth(at, language))
  monthNames.set(language, known)
  const start = name.toLocaleLowerCase(language)
  const found = known.flatMap((names, at) => (names.some((one) => one.startsWith(start)) ? [at + 1] : []))
  return found.length === 1 ? (found[0] ?? 0) : 0
}

/** The names of a month alone and in a date, short and long. */
function namesOfMonth(at: number, language: string): string[] {
  const date = new Date(Date.UTC(2026, at, 1))
  const styles = [{ month: 'long' }, { month: 'short' }] as const
  return styles.flatMap((style) =>
    [style, { ...style, day: 'numeric' } as const].map((options) => {
      const parts = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' }).formatToParts(date)
      return parts.find(({ type }) => type === 'month')?.value.toLocaleLowerCase(language) ?? ''
    }),
  )
}

/** Whether a text is written in one of the formats, whatever it says. */
const hasFormat = (text: string, formats: readonly string[]): boolean =>
  firstMatch(text, formats, (parts) => parts) !== null

type Time = {
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly offset: string | null
}

const readTimeParts = (text: string, formats: readonly string[]): Time | null =>
  firstMatch(
    text,
    ['HH:mm', 'HH:mm:ss', 'HH:mm:ssZ', ...formats],
    ({ hour: stated, minute = 0, second = 0, half, offset }) => {
      const hour = Number(stated)
      if (half !== undefined && (hour < 1 || hour > 12)) return null
      const time = {
        hour: half === undefined ? hour : (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0),
        minute: Number(minute),
        second: Number(second),
        offset: offset === undefined ? null : withColon(offset),
      }
      return time.hour < 24 && time.minute < 60 && time.second < 60 ? time : null
    },
  )

const withColon = (offset: string): string =>
  /^[+-]/.test(offset) ? offset.replace(/^(.\d\d):?(\d\d)$/, '$1:$2') : '+00:00'

/** The time of a text as `HH:MM`; null if it has none of the formats. Seconds are dropped. */
export function readTime(text: string, formats: readonly string[]): string | null {
  const time = readTimeParts(text, formats)
  return time && `${two(time.hour)}:${two(time.minute)}`
}

/** What may be a date and a time: the texts before and after each space, comma or T. */
const splits = (text: string): [string, string][] =>
  [...text.trim().matchAll(/,?\s+|T/g)].map(({ index, 0: gap }) => [
    text.trim().slice(0, index),
    text.trim().slice(index + gap.length),
  ])

/** Splits a date that a time may follow. */
function splitDateTime(text: string, formats: DateAndTimeFormats) {
  const whole = readDate(text, formats)
  if (whole !== null) return { date: whole, time: null }
  for (const [before, after] of splits(text)) {
    const date = readDate(before, formats)
    const time = date && readTimeParts(after, formats.times)
    if (date && time) return { date, time }
  }
  return null
}

/** The format in which the date of a text is written. */
export const dateFormatOf = (text: string, formats: DateAndTimeFormats): string | undefined =>
  ['YYYY-MM-DD', ...formats.dates].find(
    (format) => splitDateTime(text, { ...formats, dates: [format] }) !== null,
  )

/** What is wrong with a text that has no date. */
export function dateProblem(text: string, formats: DateAndTimeFormats): string {
  const beginnings = splits(text).map(([before]) => before)
  if (beginnings.some((one) => readDate(one, formats) !== null))
    return `is followed by something that is not ${either(formats.times, 'HH:mm')}`
  if ([text, ...beginnings].some((one) => hasFormat(one, ['YYYY-MM-DD', ...formats.dates])))
    return 'is not a date that exists'
  return `is not ${either(formats.dates, 'YYYY-MM-DD')}, as the map says`
}

export const either = (formats: readonly string[], iso: string): string =>
  [...new Set([...formats, iso])].join(' or ')

const localTime = ({ hour, minute, second }: Time): string => [hour, minute, second].map(two).join(':')

/** The instant of a date and a time, which is local to the time zone unless it has an offset. */
const toInstant = (date: string, time: Time, timezone: string): string =>
  time.offset === null
    ? instantOf(date, timezone, localTime(time))
    : new Date(`${date}T${localTime(time)}${time.offset}`).toISOString()

/** The date and the time that the clock of the clinic shows: `YYYY-MM-DD` and `HH:MM`; null if the text has none. */
function clinicDateTime(text: string, formats: DateAndTimeFormats) {
  const found = splitDateTime(text, formats)
  if (!found?.time) return found && { date: found.date, time: null }
  const { date, time } = found
  if (time.offset === null) return { date, time: `${two(time.hour)}:${two(time.minute)}` }
  const local = clinicTimestamp(toInstant(date, time, formats.timezone), formats.timezone)
  return { date: local.slice(0, 10), time: local.slice(11, 16) }
}

/** The date of a text that may have a time too; null if it has none. */
export const dateOf = (text: string, formats: DateAndTimeFormats): string | null =>
  clinicDateTime(text, formats)?.date ?? null

/** The time of a text that has a date too, as `HH:MM`; null if it has none. */
export const timeOf = (text: string, formats: DateAndTimeFormats): string | null =>
  clinicDateTime(text, formats)?.time ?? readTime(text, formats.times)

const MIDNIGHT: Time = { hour: 0, minute: 0, second: 0, offset: null }

/** The instant of a date, with or without a time, that is local to the time zone unless it has an offset; null if it is none. */
export function readInstant(text: string, formats: DateAndTimeFormats): string | null {
  const found = splitDateTime(text, formats)
  return found && toInstant(found.date, found.time ?? MIDNIGHT, formats.timezone)
}

const HOUR = String.raw`h|hrs?|hours?|heures?|horas?|hod\p{L}*|std\p{L}*|stunden?|godz\p{L}*|or[ae]|saat|sa|u|uur|uren`
const HOURS = String.raw`(?:(?<hours>\d+(?:[.,]\d+)?)\s*(?:${HOUR})(?!\p{L})\.?)?`
const MINUTES = String.raw`(?:(?<minutes>\d+)\s*(?:(?:m|min\p{L}*)(?!\p{L})\.?|dk|dakika|['′])?)?`
const DURATION = new RegExp(String.raw`^(?:PT)?${HOURS}\s*${MINUTES}$`, 'iu')

/** The minutes of `45`, `45 min`, `1:30`, `00:45:00`, `1 h 30 min` or `PT45M`; null for other text. */
export function readDuration(text: string): number | null {
  const clock = /^(\d{1,2}):(\d\d)(?::\d\d)?$/.exec(text.trim())
  if (clock) return Number(clock[1]) * 60 + Number(clock[2])
  const { hours, minutes } = DURATION.exec(text.trim())?.groups ?? {}
  if (hours === undefined && minutes === undefined) return null
  return Math.round(Number((hours ?? '0').replace(',', '.')) * 60) + Number(minutes ?? 0)
}

/** Separators of thousands are the same throughout a number. */
const NUMBER = {
  comma: /^(?:\d{1,3}(?:([.\p{Zs}'’])\d{3})(?:\1\d{3})*|\d+)(?:,\d+)?$/u,
  // In India, groups have two digits, apart from the last: 12,34,567.50.
  point: /^(?:\d{1,3}(?:([,\p{Zs}'’])\d{3})(?:\1\d{3})*|\d{1,2}(?:,\d\d)+,\d{3}|\d+)(?:\.\d+)?$/u,
}

/** How files write currencies, apart from their codes and the signs that Node knows. */
const OTHER_SIGNS: { readonly [currency: string]: readonly string[] } = {
  ALL: ['lekë'],
  BGN: ['лв'],
  BYN: ['br'],
  CHF: ['fr', 'sfr'],
  CNY: ['元', '圆', 'rmb'],
  DOP: ['rd$'],
  HKD: ['元'],
  INR: ['rs'],
  JPY: ['円'],
  KES: ['ksh'],
  KRW: ['원'],
  LKR: ['rs'],
  MKD: ['ден'],
  NPR: ['rs'],
  PEN: ['s/'],
  PKR: ['rs'],
  RSD: ['din', 'дин'],
  RUB: ['руб', 'р'],
  TRY: ['tl'],
  TWD: ['元'],
  UAH: ['грн'],
  USD: ['us$'],
}

/** Whether a unit is the code of a currency, or one of its signs. Of what is no currency, any unit is. */
export const isSignOf =
  (currency: string) =>
  (unit: string): boolean =>
    !CURRENCIES.includes(currency) || signsOf(currency).includes(unit.toLowerCase())

const signsOf = (currency: string): string[] => [
  ...(OTHER_SIGNS[currency] ?? []),
  ...(['code', 'symbol', 'narrowSymbol'] as const).map((currencyDisplay) => {
    const parts = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay }).formatToParts(
      0,
    )
    return parts.find(({ type }) => type === 'currency')?.value.toLowerCase() ?? ''
  }),
]

/** Right-to-left scripts have them around minus signs and currencies. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f]/g

/**
 * An amount as a plain decimal, without its unit and separators of thousands; null if it is no such number, or has another unit.
 * `(12.50)` and `12.50-` are negative.
 */
export function readAmount(
  text: string,
  decimal: 'comma' | 'point',
  isUnit: (unit: string) => boolean,
): string | null {
  const [, before = '', digits = '', after = ''] =
    /^(\D*)(\d(?:.*\d)?)(\D*)$/s.exec(text.replace(/[−–]/g, '-').replace(DIRECTION_MARKS, '').trim()) ?? []
  const units = [before.replace(/[-(\s]/g, ''), after.replace(/[-)\s]/g, '')].map((unit) =>
    unit.normalize('NFKC').replace(/(?<=\p{L})\.$/u, ''),
  )
  const signs = before.split(/[-(]/).length + after.split('-').length - 2
  const isClosed = before.split('(').length === after.split(')').length
  if (!NUMBER[decimal].test(digits) || signs > 1 || !isClosed) return null
  if (!units.every((unit) => unit === '' || (/^[^.,()\p{N}]+$/u.test(unit) && isUnit(unit)))) return null
  const number = digits.replace(decimal === 'comma' ? /[^\d,]/g : /[^\d.]/g, '').replace(',', '.')
  return signs === 1 ? `-${number}` : number
}
