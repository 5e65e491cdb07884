/** Days off as options name them, of a doctor or of a clinic. */
import type { TimeOff } from '../../../shared/domain/booking/doctor.ts'
import { areSameDays } from '../../../shared/store/holidays.ts'
import { timeOff } from '../import/entities/doctors.ts'
import { CommandFailure, parseOption } from '../tool/output.ts'
import { formatDays } from './doctor-text.ts'

/** The days of an option, such as `2026-12-24/2026-12-26; 2027-01-01`; none for an empty one. */
export const parseDays = (name: string, text: string): TimeOff[] =>
  text.trim() === '' ? [] : parseOption(name, timeOff, text)

/** The days with others. @param what Such as `time off`. @throws CommandFailure for days that are among them already */
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

/** The days without others. @throws CommandFailure for days that are not among them, with those that are */
export function withoutDays(what: string, days: readonly TimeOff[], removed: readonly TimeOff[]): TimeOff[] {
  const isOneOf = (list: readonly TimeOff[], one: TimeOff) => list.some((day) => areSameDays(day, one))
  const missing = removed.filter((one) => !isOneOf(days, one))
  if (missing.length > 0)
    throw new CommandFailure(
      `Nothing was changed: ${formatDays(missing)} is not ${what}. ${days.length === 0 ? 'There is none.' : `Specify it as it was added: ${formatDays(days)}`}`,
    )
  return days.filter((one) => !isOneOf(removed, one))
}
