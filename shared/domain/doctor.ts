import type { WeeklyHours, Window } from './working-hours.ts'

/** Days off, both inclusive, clinic-local `Y-m-d`. */
export type TimeOff = { readonly from: string; readonly to: string; readonly reason: string | null }

/** A physician of one clinic, with what booking needs to know of the week. */
export type Doctor = {
  readonly id: string
  readonly fullName: string
  readonly specialty: string | null
  readonly isActive: boolean
  readonly hours: WeeklyHours
  /** Inside the hours, but never bookable. */
  readonly breaks: WeeklyHours
  readonly timeOff: readonly TimeOff[]
  /** Days with other hours than the week's, by `Y-m-d`; none is a day off. */
  readonly exceptions: Readonly<Record<string, readonly Window[]>>
}
