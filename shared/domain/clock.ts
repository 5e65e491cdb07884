/** A clinic's wall clock: the local date and time, and the minutes of a day that a clock change skips. */
import { DAY_MINUTES, type Interval } from './interval.ts'
import { changeBetween, offsetAt } from './time-zone.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** The clinic-local date `Y-m-d`, and the wall-clock time as seconds since midnight. */
export type WallClock = { readonly date: string; readonly seconds: number }

/** The wall clock of an IANA zone at `now`, in milliseconds since the epoch, of which clocks may have fractions. */
export function wallClock(now: number, timezone: string): WallClock {
  const local = Math.floor(now + offsetAt(now, timezone))
  const midnight = Math.floor(local / DAY_MS) * DAY_MS
  return { date: dateOf(midnight), seconds: Math.floor((local - midnight) / 1000) }
}

/** The ISO 8601 instant in UTC at which a clinic-local date begins, or a time `HH:MM` or `HH:MM:SS` of it; a skipped time is moved past the gap. */
export const instantOf = (date: string, timezone: string, time?: string): string =>
  new Date(
    time === undefined ? startOf(date, timezone) : instantAt(Date.parse(`${date}T${time}Z`), timezone),
  ).toISOString()

/** The instants at which clocks show a local time, given as if it were UTC: none if it is skipped. */
function instantsOf(local: number, timezone: string): Set<number> {
  const instants = [local - DAY_MS, local + DAY_MS].map((near) => local - offsetAt(near, timezone))
  return new Set(instants.filter((instant) => instant + offsetAt(instant, timezone) === local))
}

/** The first of these instants; null if there is none. */
function shownAt(local: number, timezone: string): number | null {
  const shown = instantsOf(local, timezone)
  return shown.size === 0 ? null : Math.min(...shown)
}

/** How often clocks show a time `HH:MM` or `HH:MM:SS` of a date: twice when daylight saving time ends, and not when it begins. */
export const timesShown = (date: string, timezone: string, time: string): number =>
  instantsOf(Date.parse(`${date}T${time}Z`), timezone).size

const instantAt = (local: number, timezone: string): number =>
  shownAt(local, timezone) ?? local - offsetAt(local - DAY_MS, timezone)

/** The first instant of a local day: the change of clocks, if that skips midnight. */
function startOf(date: string, timezone: string): number {
  const midnight = midnightOf(date)
  return (
    shownAt(midnight, timezone) ?? (changeBetween(midnight - DAY_MS, midnight + DAY_MS, timezone) as number)
  )
}

/** Whole seconds, rounded up, from `now` until the next day begins in an IANA zone. */
export const secondsUntilNextDay = (now: number, timezone: string): number =>
  Math.ceil((startOf(addDays(wallClock(now, timezone).date, 1), timezone) - now) / 1000)

/** The date `days` days after a date `Y-m-d`. */
export const addDays = (date: string, days: number): string => dateOf(midnightOf(date) + days * DAY_MS)

/** The days from one date `Y-m-d` to a later one: 0 for the same date. */
export const daysBetween = (from: string, to: string): number => (midnightOf(to) - midnightOf(from)) / DAY_MS

/** 1 for Monday to 7 for Sunday. */
export const dayOfWeek = (date: string): number => new Date(midnightOf(date)).getUTCDay() || 7

/**
 * The minutes of a day that clocks skip: an hour when daylight saving time begins, or a whole day when a zone crosses the
 * date line.
 */
export function clockGaps(date: string, timezone: string): Interval[] {
  const midnight = midnightOf(date)
  const gaps: Interval[] = []
  // Starts two days earlier, since a gap may begin on the day before and reach past midnight.
  for (let at = midnight - 2 * DAY_MS; at < midnight + 2 * DAY_MS; at += DAY_MS) {
    const change = changeBetween(at, at + DAY_MS, timezone)
    if (change === null) continue
    const to = (change + offsetAt(change, timezone) - midnight) / MINUTE_MS
    const from = (change + offsetAt(change - 1, timezone) - midnight) / MINUTE_MS
    if (from < to && from < DAY_MINUTES && to > 0)
      gaps.push({ from: Math.max(0, Math.floor(from)), to: Math.min(DAY_MINUTES, Math.ceil(to)) })
  }
  return gaps
}

const midnightOf = (date: string): number => Date.parse(`${date}T00:00:00Z`)

/** The date of an instant in UTC. */
const dateOf = (instant: number): string => new Date(instant).toISOString().slice(0, -'T00:00:00.000Z'.length)
