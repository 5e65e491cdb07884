import type { Doctor, TimeOff } from './doctor.ts'

/** Why a doctor does not work on a date, whatever the hours of it. */
export type Absence =
  | { readonly kind: 'inactive' }
  | { readonly kind: 'holiday' | 'time_off'; readonly days: TimeOff }

/** The absence of a doctor on a date `Y-m-d`, a holiday before time off; null on other days. */
export function absenceOn({ isActive, holidays = [], timeOff }: Doctor, date: string): Absence | null {
  if (!isActive) return { kind: 'inactive' }
  const isIncluded = ({ from, to, times }: TimeOff) => !times && from <= date && date <= to
  const holiday = holidays.find(isIncluded)
  if (holiday) return { kind: 'holiday', days: holiday }
  const days = timeOff.find(isIncluded)
  return days ? { kind: 'time_off', days } : null
}
