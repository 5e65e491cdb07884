import type { WeeklyHours, Window } from './working-hours.ts'

/** Days off from one clinic-local date `Y-m-d` to another, both inclusive. */
export type TimeOff = { readonly from: string; readonly to: string; readonly reason: string | null }

/** The most doctors of one clinic who can be booked: availability reads a day of all of them at once. */
export const MAX_ACTIVE_DOCTORS = 500

/** A physician of one clinic, with the working hours that booking goes by. */
export type Doctor = {
  readonly id: string
  readonly fullName: string
  readonly specialty: string | null
  readonly departmentId: string | null
  readonly isActive: boolean
  readonly hours: WeeklyHours
  /** Times within the hours that cannot be booked. */
  readonly breaks: WeeklyHours
  readonly timeOff: readonly TimeOff[]
  /** A copy of the clinic's holidays, so that a booking need not read them. Absent if there never were any. */
  readonly holidays?: readonly TimeOff[]
  /** Dates `Y-m-d` with hours other than the week's. An empty list is a day off. */
  readonly exceptions: Readonly<Record<string, readonly Window[]>>
}
