/**
 * When a doctor can be booked. One rule decides for all: a slot that availability lists and a start that booking is asked
 * for pass through {@link refusal} alike, so that what is shown is what books.
 */
import { clockGaps, dayOfWeek, daysLater, type WallClock } from './clock.ts'
import type { Doctor } from './doctor.ts'
import { type Interval, LAST_MINUTE, minutesOf, overlaps } from './interval.ts'
import { WEEKDAYS, type Window } from './working-hours.ts'

/** What is known of one doctor's day. */
export type DoctorDay = {
  readonly doctor: Doctor
  /** Clinic-local `Y-m-d`. */
  readonly date: string
  readonly timezone: string
  /** Time that appointments take. */
  readonly busy: readonly Interval[]
}

/** Why a start cannot be booked. */
export type Refusal = 'in_past' | 'outside_hours' | 'taken'

/** Why an interval cannot be booked now; null when it can. */
export function refusal(day: DoctorDay, interval: Interval, now: WallClock): Refusal | null {
  return refusalOf(openingsOf(day), day, interval, now)
}

/** The bookable slots of a day, ascending: from each window's start in steps of the duration. */
export function freeSlots(day: DoctorDay, duration: number, now: WallClock): Interval[] {
  if (day.date < now.date) return []
  const openings = openingsOf(day)
  const starts = new Set<number>()
  for (const { from, to } of openings.windows) {
    for (let start = from; start + duration <= to; start += duration) starts.add(start)
  }
  return [...starts]
    .sort((a, b) => a - b)
    .map((from) => ({ from, to: from + duration }))
    .filter((slot) => refusalOf(openings, day, slot, now) === null)
}

/** A slot on a named day. */
export type DatedSlot = Interval & { readonly date: string }

/** The next free times of a wanted length: later the same day first, then up to `days` days on; at most three. */
export function nextFree(
  day: DoctorDay,
  busyOn: (date: string) => readonly Interval[],
  wanted: Interval,
  days: number,
  now: WallClock,
): DatedSlot[] {
  const found: DatedSlot[] = []
  for (let ahead = 0; ahead <= days && found.length < MOST_OFFERED; ahead++) {
    const date = daysLater(day.date, ahead)
    const slots = freeSlots({ ...day, date, busy: busyOn(date) }, wanted.to - wanted.from, now)
    const later = ahead === 0 ? slots.filter(({ from }) => from > wanted.from) : slots
    found.push(...later.slice(0, MOST_OFFERED - found.length).map((slot) => ({ ...slot, date })))
  }
  return found
}

const MOST_OFFERED = 3

/** When a doctor works on a day, and what is cut out of it. */
type Openings = { readonly windows: readonly Interval[]; readonly closed: readonly Interval[] }

function openingsOf({ doctor, date, timezone }: DoctorDay): Openings {
  const away = doctor.timeOff.some(({ from, to }) => from <= date && date <= to)
  if (!doctor.isActive || away) return { windows: [], closed: [] }
  const weekday = WEEKDAYS[dayOfWeek(date) - 1] ?? 'mon'
  const windows = doctor.exceptions[date] ?? doctor.hours[weekday] ?? []
  return {
    windows: windows.map(toInterval),
    closed: [...(doctor.breaks[weekday] ?? []).map(toInterval), ...clockGaps(date, timezone)],
  }
}

const toInterval = ({ start, end }: Window): Interval => ({ from: minutesOf(start), to: minutesOf(end) })

function refusalOf(
  { windows, closed }: Openings,
  day: DoctorDay,
  interval: Interval,
  now: WallClock,
): Refusal | null {
  if (day.date < now.date || (day.date === now.date && interval.from * 60 <= now.seconds)) return 'in_past'
  const works = interval.to <= LAST_MINUTE && isCovered(interval, windows)
  if (!works || closed.some((part) => overlaps(part, interval))) return 'outside_hours'
  return day.busy.some((taken) => overlaps(taken, interval)) ? 'taken' : null
}

/** Whether windows cover an interval, together where they touch; they are ascending and apart. */
function isCovered({ from, to }: Interval, windows: readonly Interval[]): boolean {
  let reached = from
  for (const window of windows) {
    if (window.from <= reached && reached < window.to) reached = window.to
  }
  return reached >= to
}
