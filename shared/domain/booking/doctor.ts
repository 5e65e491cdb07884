import type { WeeklyHours, Window } from './working-hours.ts'

/** Days off from one clinic-local date `Y-m-d` to another, both inclusive; with `times`, a part of a single day. */
export type TimeOff = {
  readonly from: string
  readonly to: string
  readonly times?: Window
  readonly reason: string | null
}

/** When time off is, whatever its reason. */
export type TimeOffSpan = Omit<TimeOff, 'reason'>

export const isSameSpan = (a: TimeOffSpan, b: TimeOffSpan): boolean =>
  a.from === b.from && a.to === b.to && a.times?.start === b.times?.start && a.times?.end === b.times?.end

/** The most doctors of one clinic who can be booked: availability reads a day of all of them at once. */
export const MAX_ACTIVE_DOCTORS = 500

/** The most holidays that a clinic can have: twenty years of them. Each doctor has a copy. */
export const MAX_HOLIDAYS = 200

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

/** A doctor without working hours. */
export const NEW_DOCTOR: Omit<Doctor, 'id' | 'fullName'> = {
  specialty: null,
  departmentId: null,
  isActive: true,
  hours: {},
  breaks: {},
  timeOff: [],
  exceptions: {},
}
