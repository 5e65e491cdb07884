/** How other systems write dates and times. */
import { isCalendarDate } from '../../../shared/domain/timestamp.ts'
import { type Parts, patternOf } from './format-patterns.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** What a text says in the first of the formats that it has and that makes sense; null if there is none. */
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

export const readTimeParts = (text: string, formats: readonly string[]): Time | null =>
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

export const two = (value: number): string => String(value).padStart(2, '0')

/** The time of a text as `HH:MM`; null if it has none of the formats. Seconds are dropped. */
export function readTime(text: string, formats: readonly string[]): string | null {
  const time = readTimeParts(text, formats)
  return time && `${two(time.hour)}:${two(time.minute)}`
}
