import { offsetAt } from './time-zone.ts'

/** Formats an instant as clinic-local time with the offset at that time: `2026-05-01T10:00:00+03:00`. */
export function clinicTimestamp(instant: string, timezone: string): string {
  const at = Date.parse(instant)
  const offset = offsetAt(at, timezone)
  const local = new Date(at + offset).toISOString().slice(0, -'.000Z'.length)
  const minutes = Math.round(Math.abs(offset) / 60_000)
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
}

/**
 * The time of a change that responses may not show: `now`, but in a later second than the change before it. Responses have
 * whole seconds, and etags are digests of them.
 */
export function inLaterSecond(before: string, now: string): string {
  const next = new Date((Math.floor(Date.parse(before) / 1000) + 1) * 1000).toISOString()
  return now < next ? next : now
}

/** The year before is 1 BC, which ISO 8601 numbers 0. */
const FIRST_DATE = '0001-01-01'

/** The last date that a record can have. Later dates of four digits can be filtered by, and no record has them. */
export const LAST_DATE = '2199-12-31'

const YMD = /^(\d{4})-(\d{2})-(\d{2})$/

/** Whether the text is an existing day from year 1 on, in the form `Y-m-d`; `2026-02-30` is not. */
export function isCalendarDate(text: string): boolean {
  if (!YMD.test(text) || text < FIRST_DATE) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** The ISO 8601 instant in UTC of a timestamp with an offset or Z; null if it is malformed, or its date does not exist. */
export function parseInstant(text: string): string | null {
  const [, date = ''] = INSTANT.exec(text) ?? []
  return isCalendarDate(date) ? new Date(text).toISOString() : null
}
