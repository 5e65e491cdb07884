/** Changes of a list of days off: the time off of a doctor, or the holidays of a clinic. */
import { isSameSpan, type TimeOff, type TimeOffSpan } from '../../../shared/domain/booking/doctor.ts'
import { formatSpan, formatTimeOff } from '../../../shared/domain/booking/doctor-days.ts'
import { timeOff } from '../../../shared/sync/entities/doctors.ts'
import { CommandFailure, parseOption } from '../tool/output.ts'

/** `2026-12-24/2026-12-26; 2027-01-01` */
export const formatDays = (days: readonly TimeOffSpan[]): string => days.map(formatSpan).join('; ')

/** Parses the days of an option, such as `2026-12-24/2026-12-26; 2027-01-01`. Returns none for an empty option. */
export const parseDays = (name: string, text: string, schema = timeOff): TimeOff[] =>
  text.trim() === '' ? [] : parseOption(name, schema, text)

/**
 * Adds days to a list, except those that it has.
 * @param what what a day is called in the error, such as `time off`
 * @throws CommandFailure for days that the list has with another reason
 */
export function withDays(what: string, days: readonly TimeOff[], added: readonly TimeOff[]): TimeOff[] {
  const all = [...days]
  for (const one of added) {
    const known = all.find(
      (day) => isSameSpan(day, one) || (!day.times && day.from <= one.from && one.to <= day.to),
    )
    if (!known) all.push(one)
    else if (one.reason !== null && one.reason !== known.reason)
      throw new CommandFailure(
        `Nothing was changed: ${formatDays([one])} is ${what} already, as ${formatTimeOff([known])}. Remove it first.`,
      )
  }
  return all
}

/**
 * Removes days from a list, or none if it has none of them.
 * @throws CommandFailure if it has only some of them, or has them in other spans; its message names those it has
 */
export function withoutDays(what: string, days: readonly TimeOff[], removed: readonly TimeOff[]): TimeOff[] {
  const isOneOf = (list: readonly TimeOff[], one: TimeOff) => list.some((day) => isSameSpan(day, one))
  const missing = removed.filter((one) => !isOneOf(days, one))
  const isPartOf = (one: TimeOff) => days.some(({ from, to }) => from <= one.to && one.from <= to)
  if (missing.some(isPartOf) || (missing.length > 0 && missing.length < removed.length))
    throw new CommandFailure(
      `Nothing was changed: ${formatDays(missing)} is not ${what}. Specify it as it was added: ${formatDays(days)}`,
    )
  return days.filter((one) => !isOneOf(removed, one))
}
