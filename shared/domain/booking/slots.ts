/**
 * When a doctor can be booked. Availability and booking share one rule, {@link bookingRejection}, so every slot that
 * availability lists can be booked.
 */

import { addDays, clockGaps, dayOfWeek, type WallClock } from '../clock.ts'
import { type Interval, LAST_MINUTE, overlaps, parseTime } from '../interval.ts'
import { LAST_DATE } from '../timestamp.ts'
import { absenceOn } from './absence.ts'
import type { Appointment } from './appointment.ts'
import type { Doctor } from './doctor.ts'
import { WEEKDAYS, type Window } from './working-hours.ts'

export type DoctorDay = {
  readonly doctor: Doctor
  /** Clinic-local `Y-m-d`. */
  readonly date: string
  readonly timezone: string
  /** Time that appointments take on that day. */
  readonly busy: readonly Interval[]
  /** The minutes that clocks skip, for callers that ask for many doctors: finding them takes longer than all the rest. */
  readonly gaps?: readonly Interval[]
}

/** Why a doctor does not work at a time; `hours` includes minutes that clocks skip. */
export const CLOSED_REASONS = ['hours', 'break', 'time_off', 'holiday', 'doctor_inactive'] as const
export type ClosedReason = (typeof CLOSED_REASONS)[number]

/** Why a start cannot be booked. */
export type BookingRejection = 'in_past' | 'outside_hours' | 'taken'

/** Why an interval cannot be booked now; null when it can. */
export function bookingRejection(
  day: DoctorDay,
  interval: Interval,
  now: WallClock,
): BookingRejection | null {
  return rejectionWithin(openingsOf(day), day, interval, now)
}

/** Why an interval is outside a doctor's hours. */
export function closedReason(day: Omit<DoctorDay, 'busy'>, interval: Interval): ClosedReason {
  const absence = absenceOn(day.doctor, day.date)
  if (absence) return absence.kind === 'inactive' ? 'doctor_inactive' : absence.kind
  const { windows, breaks } = openingsOf(day)
  return isCovered(interval, windows) && breaks.some((part) => overlaps(part, interval)) ? 'break' : 'hours'
}

/** Whether a doctor works during an interval, whatever is booked, and whether or not it is past. */
export const isWorking = (day: Omit<DoctorDay, 'busy'>, interval: Interval): boolean =>
  isOpen(openingsOf(day), interval)

/** Whether a doctor works during an appointment. */
export const worksDuring = (
  doctor: Doctor,
  { date, startTime, endTime }: Pick<Appointment, 'date' | 'startTime' | 'endTime'>,
  timezone: string,
): boolean => isWorking({ doctor, date, timezone }, { from: parseTime(startTime), to: parseTime(endTime) })

/** The bookable slots of a day, ascending: from each window's start in steps of the duration. */
export function freeSlots(day: DoctorDay, duration: number, now: WallClock): Interval[] {
  const openings = openingsOf(day)
  const slots: Interval[] = []
  for (const { from, to } of openings.windows) {
    for (let start = from; start + duration <= to; start += duration)
      slots.push({ from: start, to: start + duration })
  }
  return slots.filter((slot) => rejectionWithin(openings, day, slot, now) === null)
}

/** The times at which a doctor works on a day, whatever is booked. A day on which the doctor has no hours is not closed. */
export type DaySchedule = {
  readonly windows: readonly Interval[]
  /** Why the doctor is away on a day of the weekly plan, a holiday before time off; null otherwise. */
  readonly closed: 'holiday' | 'time_off' | null
}

/** The schedule of a day: what availability steps through, without breaks and minutes that clocks skip. */
export function scheduleOf(day: Omit<DoctorDay, 'busy'>): DaySchedule {
  const { windows, breaks, gaps } = openingsOf(day)
  const absence = hoursOn(day.doctor, day.date).length > 0 ? absenceOn(day.doctor, day.date) : null
  return {
    windows: [...breaks, ...gaps].reduce(without, windows),
    closed: absence === null || absence.kind === 'inactive' ? null : absence.kind,
  }
}

const without = (windows: readonly Interval[], hole: Interval): readonly Interval[] =>
  windows.flatMap(({ from, to }) =>
    [
      { from, to: Math.min(to, hole.from) },
      { from: Math.max(from, hole.to), to },
    ].filter((part) => part.from < part.to),
  )

/** A slot on a named day. */
export type DatedSlot = Interval & { readonly date: string }

/** The next free times of the requested length, at most three: later the same day, then on the next `days` days. */
export function nextFreeSlots(
  day: DoctorDay,
  busyOn: (date: string) => readonly Interval[],
  requested: Interval,
  days: number,
  now: WallClock,
): DatedSlot[] {
  const found: DatedSlot[] = []
  for (let dayOffset = 0; dayOffset <= days && found.length < MAX_ALTERNATIVES; dayOffset++) {
    const date = addDays(day.date, dayOffset)
    if (date > LAST_DATE) break
    const slots = freeSlots({ ...day, date, busy: busyOn(date) }, requested.to - requested.from, now)
    const later = dayOffset === 0 ? slots.filter(({ from }) => from > requested.from) : slots
    found.push(...later.slice(0, MAX_ALTERNATIVES - found.length).map((slot) => ({ ...slot, date })))
  }
  return found
}

const MAX_ALTERNATIVES = 3

/** When a doctor works on a day, and the breaks and skipped clock times within. */
type Openings = {
  readonly windows: readonly Interval[]
  readonly breaks: readonly Interval[]
  readonly gaps: readonly Interval[]
}

function openingsOf({ doctor, date, timezone, gaps }: Omit<DoctorDay, 'busy'>): Openings {
  if (absenceOn(doctor, date)) return { windows: [], breaks: [], gaps: [] }
  return {
    windows: hoursOn(doctor, date).map(toInterval),
    breaks: [...(doctor.breaks[weekdayOf(date)] ?? []), ...blocksOn(doctor, date)].map(toInterval),
    gaps: gaps ?? clockGaps(date, timezone),
  }
}

/** The hours of a day, even if the doctor is away. */
const hoursOn = ({ exceptions, hours }: Doctor, date: string): readonly Window[] =>
  exceptions[date] ?? hours[weekdayOf(date)] ?? []

/** The parts of a day on which the doctor is away, which count as breaks. */
const blocksOn = ({ timeOff }: Doctor, date: string): Window[] =>
  timeOff.flatMap(({ from, times }) => (times && from === date ? [times] : []))

const weekdayOf = (date: string) => WEEKDAYS[dayOfWeek(date) - 1] ?? 'mon'

const toInterval = ({ start, end }: Window): Interval => ({ from: parseTime(start), to: parseTime(end) })

const isOpen = ({ windows, breaks, gaps }: Openings, interval: Interval): boolean =>
  interval.to <= LAST_MINUTE &&
  isCovered(interval, windows) &&
  ![...breaks, ...gaps].some((part) => overlaps(part, interval))

function rejectionWithin(
  openings: Openings,
  day: DoctorDay,
  interval: Interval,
  now: WallClock,
): BookingRejection | null {
  if (day.date < now.date || (day.date === now.date && interval.from * 60 <= now.seconds)) return 'in_past'
  if (!isOpen(openings, interval)) return 'outside_hours'
  return day.busy.some((taken) => overlaps(taken, interval)) ? 'taken' : null
}

/** Whether windows cover an interval, adjoining ones together. Windows are ascending and do not overlap. */
function isCovered({ from, to }: Interval, windows: readonly Interval[]): boolean {
  let reached = from
  for (const window of windows) {
    if (window.from <= reached) reached = Math.max(reached, window.to)
  }
  return reached >= to
}
