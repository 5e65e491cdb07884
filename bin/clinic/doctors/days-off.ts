/** Changes of a list of days off: the time off of a doctor, or the holidays of a clinic. */
import type { TimeOff } from '../../../shared/domain/booking/doctor.ts'
import { areSameDays } from '../../../shared/store/holidays.ts'
import { timeOff } from '../import/entities/doctors.ts'
import { CommandFailure, parseOption } from '../tool/output.ts'
import { formatDays } from './doctor-text.ts'

/** Parses the days of an option, such as `2026-12-24/2026-12-26; 2027-01-01`. Returns none for an empty option. */
export const parseDays = (name: string, text: string): TimeOff[] =>
  text.trim() === '' ? [] : parseOption(name, timeOff, text)

/**
 * Adds days to a list.
 * @param what what a day is called in the error, such as `time off`
 * @throws CommandFailure for days that the list has already
 */
export function withDays(what: string, days: readonly TimeOff[], added: readonly TimeOff[]): TimeOff[] {
  const all = [...days]
  for (const one of added) {
    const known = all.find(({ from, to }) => from <= one.from && one.to <= to)
    if (known)
      throw new CommandFailure(
        `Nothing was changed: ${formatDays([one])} is ${what} already${areSameDays(known, one) ? '' : `, in ${formatDays([known])}`}.`,
      )
    all.push(one)
  }
  return all
}

/** Removes days from a list. @throws CommandFailure for days that the list does not have; its message names those it has */
export function withoutDays(what: string, days: readonly TimeOff[], removed: readonly TimeOff[]): TimeOff[] {
  const isOneOf = (list: readonly TimeOff[], one: TimeOff) => list.some((day) => areSameDays(day, one))
  const missing = removed.filter((one) => !isOneOf(days, one))
  if (missing.length > 0)
    throw new CommandFailure(
      `Nothing was changed: ${formatDays(missing)} is not ${what}. ${days.length === 0 ? 'There is none.' : `Specify it as it was added: ${formatDays(days)}`}`,
    )
  return days.filter((one) => !isOneOf(removed, one))
}
