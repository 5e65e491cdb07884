/** A doctor's days off and exceptions as text, in the operator's commands and files. */

import { singleLineText } from '../patients/text-fields.ts'
import { isCalendarDate } from '../timestamp.ts'
import type { Doctor, TimeOff } from './doctor.ts'
import { formatWindows, parseWindows, type Window } from './working-hours.ts'

type Exceptions = Doctor['exceptions']

/** The text is not a list of days. The message says what it must be. */
export class DaysError extends Error {}

const MAX_REASON = 100

/** The reason of a day off, or the name of a holiday. */
export const dayOffReason = singleLineText(MAX_REASON)

/** A day or a span of days, and perhaps a reason in quotes, within which a quote is doubled. Matches at one position only. */
const DAYS_OFF = /\s*([\d-]+)(?:\/([\d-]+))?(?:\s+"((?:[^"]|"")*)")?\s*(;|$)/y

/**
 * Parses `2026-12-24/2026-12-26 "Family"; 2027-01-01`. Days need no reason.
 * @throws DaysError
 */
export function parseTimeOff(text: string): TimeOff[] {
  const days: TimeOff[] = []
  DAYS_OFF.lastIndex = 0
  for (;;) {
    const [piece, from = '', to = from, quoted, end] = DAYS_OFF.exec(text) ?? []
    if (piece === undefined || !isCalendarDate(from) || !isCalendarDate(to) || from > to)
      throw new DaysError(
        'must be days or spans such as 2026-12-24/2026-12-26; 2027-01-01. A reason follows in quotes: 2027-01-01 "Family"',
      )
    days.push({ from, to, reason: quoted === undefined ? null : parseReason(quoted) })
    if (end === '') return days
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
    .map(({ from, to, reason }) =>
      [formatSpan({ from, to }), ...(reason === null ? [] : [`"${reason.replaceAll('"', '""')}"`])].join(' '),
    )
    .join('; ')

/** `2026-12-24/2026-12-26`, or `2026-12-24` for a single day. */
export const formatSpan = ({ from, to }: Pick<TimeOff, 'from' | 'to'>): string =>
  from === to ? from : `${from}/${to}`

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
