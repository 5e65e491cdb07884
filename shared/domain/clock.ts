/** A clinic's wall clock: the local date and time, and the minutes of a day that a clock change skips. */
import { Temporal } from 'temporal-polyfill'
import { DAY_MINUTES, type Interval } from './interval.ts'

/** The clinic-local date `Y-m-d`, and the wall-clock time as seconds since midnight. */
export type WallClock = { readonly date: string; readonly seconds: number }

/** The wall clock of an IANA zone at `now`, in milliseconds since the epoch, of which clocks may have fractions. */
export function wallClock(now: number, timezone: string): WallClock {
  const local = Temporal.Instant.fromEpochMilliseconds(Math.floor(now)).toZonedDateTimeISO(timezone)
  return {
    date: local.toPlainDate().toString(),
    seconds: local.hour * 3600 + local.minute * 60 + local.second,
  }
}

/** The ISO 8601 instant in UTC at which a clinic-local date begins, or a time `HH:MM` of it; a skipped time is moved past the gap. */
export function instantOf(date: string, timezone: string, time?: string): string {
  const local = Temporal.PlainDate.from(date).toZonedDateTime({
    timeZone: timezone,
    ...(time !== undefined && { plainTime: time }),
  })
  return new Date(local.epochMilliseconds).toISOString()
}

/** Whole seconds, rounded up, from `now` until the next day begins in an IANA zone. */
export function secondsUntilNextDay(now: number, timezone: string): number {
  const local = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone)
  return Math.ceil((local.startOfDay().add({ days: 1 }).epochMilliseconds - now) / 1000)
}

/** The date `days` days after a date `Y-m-d`. */
export const addDays = (date: string, days: number): string =>
  Temporal.PlainDate.from(date).add({ days }).toString()

/** The days from one date `Y-m-d` to a later one: 0 for the same date. */
export const daysBetween = (from: string, to: string): number =>
  Temporal.PlainDate.from(from).until(to, { largestUnit: 'days' }).days

/** 1 for Monday to 7 for Sunday. */
export const dayOfWeek = (date: string): number => Temporal.PlainDate.from(date).dayOfWeek

/**
 * The minutes of a day that clocks skip: an hour when daylight saving time begins, or a whole day when a zone crosses the
 * date line.
 */
export function clockGaps(date: string, timezone: string): Interval[] {
  const day = Temporal.PlainDate.from(date)
  const midnight = day.toPlainDateTime()
  const gaps: Interval[] = []
  // Starts two days earlier, since a gap may begin on the day before and reach past midnight.
  let at: Temporal.ZonedDateTime | null = day.subtract({ days: 2 }).toZonedDateTime(timezone)
  const end = day.add({ days: 2 }).toZonedDateTime(timezone)
  for (
    at = at.getTimeZoneTransition('next');
    at && Temporal.ZonedDateTime.compare(at, end) < 0;
    at = at.getTimeZoneTransition('next')
  ) {
    const before = at.subtract({ nanoseconds: 1 })
    const skipped = at.offsetNanoseconds - before.offsetNanoseconds
    if (skipped <= 0) continue
    const to = minutesBetween(midnight, at.toPlainDateTime())
    const from = to - skipped / 60e9
    if (from < DAY_MINUTES && to > 0)
      gaps.push({ from: Math.max(0, Math.floor(from)), to: Math.min(DAY_MINUTES, Math.ceil(to)) })
  }
  return gaps
}

const minutesBetween = (start: Temporal.PlainDateTime, end: Temporal.PlainDateTime): number =>
  start.until(end, { largestUnit: 'seconds' }).seconds / 60
