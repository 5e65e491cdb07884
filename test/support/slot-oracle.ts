/** Decides minute by minute when a doctor can be booked, slowly and without the code under test. */
import type { Doctor } from '../../shared/domain/booking/doctor.ts'

export type OracleDay = {
  doctor: Pick<Doctor, 'isActive' | 'timeOff' | 'hours' | 'breaks' | 'exceptions'>
  date: string
  timezone: string
  busy: readonly { from: number; to: number }[]
  /** Time that is taken in the room, if one is asked for. */
  roomBusy?: readonly { from: number; to: number }[]
}

export const formatMinute = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

/** Why a start cannot be booked, or null: each of its minutes must be in working hours, exist and be free. */
export function expectedRejection(
  { doctor, date, timezone, busy, roomBusy = [] }: OracleDay,
  from: number,
  duration: number,
): string | null {
  const weekday = weekdayOf(date)
  const inside = (windows: readonly { start: string; end: string }[] | undefined, time: string) =>
    (windows ?? []).some(({ start, end }) => start <= time && time < end)
  const spans = doctor.timeOff.filter((span) => span.from <= date && date <= span.to)
  const off = !doctor.isActive || spans.some(({ times }) => !times)
  const blocks = spans.flatMap(({ times }) => times ?? [])
  const hours = doctor.exceptions[date] ?? doctor.hours[weekday]
  for (let minute = from; minute < from + duration; minute++) {
    const time = formatMinute(minute)
    const pause = [...(doctor.breaks[weekday] ?? []), ...blocks]
    const open = !off && minute < 1439 && inside(hours, time) && !inside(pause, time)
    if (!open || !minuteExists(date, time, timezone)) return 'outside_hours'
  }
  for (const [reason, times] of [
    ['taken', busy],
    ['room_taken', roomBusy],
  ] as const)
    for (let minute = from; minute < from + duration; minute++)
      if (times.some((taken) => taken.from <= minute && minute < taken.to)) return reason
  return null
}

function weekdayOf(date: string) {
  const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
  return weekdays[new Date(`${date}T12:00:00Z`).getUTCDay()] ?? 'mon'
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/** The starts that availability must list: on the grid of each window, those that can be booked. */
export function expectedSlots(day: OracleDay, duration: number): number[] {
  const windows = day.doctor.exceptions[day.date] ?? day.doctor.hours[weekdayOf(day.date)] ?? []
  return windows.flatMap(({ start, end }) => {
    const starts: number[] = []
    for (let from = minuteOf(start); from + duration <= minuteOf(end); from += duration) starts.push(from)
    return starts.filter((from) => expectedRejection(day, from, duration) === null)
  })
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The local time of a zone at an instant, such as `2026-03-29 03:00`. */
export function wallClockAt(instant: number, timezone: string): string {
  const known = formats.get(timezone)
  const format =
    known ?? new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' })
  if (!known) formats.set(timezone, format)
  return format.format(instant)
}

const existingMinutes = new Map<string, Set<string>>()

/** Reports whether the minute exists in the zone, by trying every instant within 28 hours of noon. */
export function minuteExists(date: string, time: string, timezone: string): boolean {
  const key = `${date} ${timezone}`
  const known = existingMinutes.get(key)
  if (known) return known.has(`${date} ${time}`)
  const noon = Date.parse(`${date}T12:00:00Z`)
  const shown = Array.from({ length: 56 * 60 }, (_, at) =>
    wallClockAt(noon + (at - 28 * 60) * 60_000, timezone),
  )
  existingMinutes.set(key, new Set(shown))
  return minuteExists(date, time, timezone)
}
