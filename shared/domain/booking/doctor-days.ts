/** The fields of a doctor, and days off and exceptions as text, in the operator's commands and files. */

import { singleLineText } from '../patients/text-fields.ts'
import { isCalendarDate } from '../timestamp.ts'
import type { Doctor, TimeOff, TimeOffSpan } from './doctor.ts'
import { formatWindows, parseWindows, type Window } from './working-hours.ts'

type Exceptions = Doctor['exceptions']

/** The text is not a list of days. The message says what it must be. */
export class DaysError extends Error {}

const MAX_REASON = 100

/** The longest text of the days off, and of the exceptions, of a doctor: bookings read them with the doctor. */
export const MAX_DAYS_TEXT = 50_000

export const doctorName = singleLineText(200)

export const specialty = singleLineText(100)

/** The reason of a day off, or the name of a holiday. */
export const dayOffReason = singleLineText(MAX_REASON)

/** A day with times or a span of days, and perhaps a reason in quotes, within which a quote is doubled. Matches at one position only. */
const DAYS_OFF = /\s*([\d-]+)(?:\/([\d-]+)|\s+([\d:]+-[\d:]+))?(?:\s+"((?:[^"]|"")*)")?\s*(;|$)/y

/**
 * Parses `2026-12-24/2026-12-26 "Family"; 2027-01-01 14:00-16:00`. Days need no reason. The result has days before parts of days, as
 * they are stored.
 * @throws DaysError; WorkingHoursError for the times of a day
 */
export function parseTimeOff(text: string): TimeOff[] {
  const days: TimeOff[] = []
  DAYS_OFF.lastIndex = 0
  for (;;) {
    const [piece, from = '', to = from, hours, quoted, end] = DAYS_OFF.exec(text) ?? []
    if (piece === undefined || !isCalendarDate(from) || !isCalendarDate(to) || from > to)
      throw new DaysError(
        'must be days or spans such as 2026-12-24/2026-12-26; 2027-01-01. A reason follows in quotes: 2027-01-01 "Family"',
      )
    const [times] = hours === undefined ? [] : parseWindows(hours, piece.trim())
    days.push({
      from,
      to,
      ...(times && { times }),
      reason: quoted === undefined ? null : parseReason(quoted),
    })
    if (end === '') return days.toSorted((a, b) => Number(Boolean(a.times)) - Number(Boolean(b.times)))
  }
}

function parseReason(quoted: string): string {
  const { data } = dayOffReason.safeParse(quoted.replaceAll('""', '"'))
  if (data === undefined) throw new DaysError(`must have reasons of 1 to ${MAX_REASON} visible characters`)
  return data
}

/** The inverse of {@link parseTimeOff}, in the same order. */
export const formatTimeOff = (days: readonly TimeOff[]): string =>
  days
    .map(({ reason, ...span }) =>
      [formatSpan(span), ...(reason === null ? [] : [`"${reason.replaceAll('"', '""')}"`])].join(' '),
    )
    .join('; ')

/** `2026-12-24/2026-12-26`, `2026-12-24` for a single day, or `2026-12-24 14:00-16:00` for a part of it. */
export const formatSpan = ({ from, to, times }: TimeOffSpan): string =>
  times ? `${from} ${formatWindows([times])}` : from === to ? from : `${from}/${to}`

/**
 * Parses `2026-12-24 09:00-12:00,13:00-14:00; 2026-12-27 off`. A date without hours is a day off too.
 * @throws DaysError; WorkingHoursError for the hours of a date
 */
export function parseExceptions(text: string): Exceptions {
  const days = new Map<string, readonly Window[]>()
  for (const part of text.split(';').map((piece) => piece.trim())) {
    const [, date = '', times = ''] = /^(\S+)(?:\s+(.*))?$/.exec(part) ?? []
    if (!isCalendarDate(date))
      throw new DaysError('must be dates and their hours, such as 2026-12-24 09:00-12:00; 2026-12-27 off')
    if (days.has(date)) throw new DaysError(`has ${date} twice`)
    days.set(date, times === '' || times.toLowerCase() === 'off' ? [] : parseWindows(times, part))
  }
  return Object.fromEntries(days)
}

/** The inverse of {@link parseExceptions}, ascending. */
export const formatExceptions = (exceptions: Exceptions): string =>
  Object.entries(exceptions)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([date, windows]) => `${date} ${formatWindows(windows) || 'off'}`)
    .join('; ')
