/** Columns that have a date and a time. */
import { Temporal } from 'temporal-polyfill'
import { readDate, readTime, readTimeParts, two } from './value-formats.ts'

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
