/** How other systems write dates, times and amounts. */
import { Temporal } from 'temporal-polyfill'
import { isCalendarDate } from '../../../../shared/domain/timestamp.ts'
import { type Parts, patternOf } from './format-patterns.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** The value of a text in the first format that matches and is valid; null if there is none. */
function firstMatch<T>(text: string, formats: readonly string[], read: (parts: Parts) => T | null): T | null {
  for (const format of formats) {
    const parts = patternOf(format).exec(text.trim())?.groups
    const found = parts ? read(parts) : null
    if (found !== null) return found
  }
  return null
}

/** The date of a text as `YYYY-MM-DD`; null if it has none of the formats, or does not exist. */
export const readDate = (text: string, formats: readonly string[]): string | null =>
  firstMatch(text, ['YYYY-MM-DD', ...formats], ({ year, month, monthName, day = '' }) => {
    const number = monthName === undefined ? month : String(MONTHS.indexOf(monthName.toLowerCase()) + 1)
    const date = `${year}-${(number ?? '').padStart(2, '0')}-${day.padStart(2, '0')}`
    return isCalendarDate(date) ? date : null
  })

/** Whether a text is written in one of the formats, whatever it says. */
export const hasFormat = (text: string, formats: readonly string[]): boolean =>
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
    ['HH:mm', 'HH:mm:ss', ...formats],
    ({ hour: stated, minute, second = 0, half, offset }) => {
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

const two = (value: number): string => String(value).padStart(2, '0')

/** The time of a text as `HH:MM`; null if it has none of the formats. Seconds are dropped. */
export function readTime(text: string, formats: readonly string[]): string | null {
  const time = readTimeParts(text, formats)
  return time && `${two(time.hour)}:${two(time.minute)}`
}

type DateAndTimeFormats = { readonly dates: readonly string[]; readonly times: readonly string[] }

/** Splits a date that a time may follow, after a space, a comma or a T. */
function splitDateTime(text: string, { dates, times }: DateAndTimeFormats) {
  const whole = readDate(text, dates)
  if (whole !== null) return { date: whole, time: null }
  for (const { index, 0: gap } of text.trim().matchAll(/,?\s+|T/g)) {
    const date = readDate(text.trim().slice(0, index), dates)
    const time = date && readTimeParts(text.trim().slice(index + gap.length), times)
    if (date && time) return { date, time }
  }
  return null
}

/** The date of a text that may have a time too; null if it has none. */
export const dateOf = (text: string, formats: DateAndTimeFormats): string | null =>
  splitDateTime(text, formats)?.date ?? null

/** The time of a text that has a date too, as `HH:MM`; null if it has none. */
export function timeOf(text: string, formats: DateAndTimeFormats): string | null {
  const time = splitDateTime(text, formats)?.time
  return time ? `${two(time.hour)}:${two(time.minute)}` : readTime(text, formats.times)
}

/** The instant of a date, with or without a time, that is local to a time zone unless it has an offset; null if it is none. */
export function readInstant(text: string, formats: DateAndTimeFormats, timezone: string): string | null {
  const found = splitDateTime(text, formats)
  if (!found) return null
  const { hour, minute, second, offset } = found.time ?? { hour: 0, minute: 0, second: 0, offset: null }
  const local = `${found.date}T${two(hour)}:${two(minute)}:${two(second)}`
  if (offset !== null) return new Date(`${local}${offset}`).toISOString()
  return new Date(
    Temporal.PlainDateTime.from(local).toZonedDateTime(timezone).epochMilliseconds,
  ).toISOString()
}

const NUMBER = {
  comma: /^-?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$/,
  point: /^-?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?$/,
}

/** An amount as a plain decimal, without currency signs and separators of thousands; null if it is no such number. */
export function readAmount(text: string, decimal: 'comma' | 'point'): string | null {
  const bare = text.replace(/[\p{Sc}\s']/gu, '').replace(/^(-?)[A-Z]{2,3}|[A-Z]{2,3}$/g, '$1')
  if (!NUMBER[decimal].test(bare)) return null
  return decimal === 'comma' ? bare.replaceAll('.', '').replace(',', '.') : bare.replaceAll(',', '')
}
