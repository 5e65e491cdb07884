export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** A period of a day in wall-clock `HH:MM`, `start` before `end`. */
export type Window = { readonly start: string; readonly end: string }

/** The windows of each weekday, ascending and without overlaps. A day without windows is missing. */
export type WeeklyHours = { readonly [day in Weekday]?: readonly Window[] }

/** The text is not a weekly plan. The message names the part that is wrong, and why. */
export class WorkingHoursError extends Error {}

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/

/**
 * Parses `mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00`. An empty text is a week without windows.
 * @throws WorkingHoursError naming the part that is wrong
 */
export function parseWeeklyHours(text: string): WeeklyHours {
  const week: { [day in Weekday]?: Window[] } = {}
  for (const part of text.split(';').map((piece) => piece.trim())) {
    if (part === '') continue
    const [days, times, ...rest] = part.split(/\s(?=\d)/)
    if (!days || !times || rest.length > 0)
      throw new WorkingHoursError(`"${part}": write days, a space, then times, as in "mon-fri 09:00-17:00"`)
    const windows = parseWindows(times, part)
    for (const day of parseDays(days, part)) week[day] = sortWindows([...(week[day] ?? []), ...windows], part)
  }
  return week
}

/** The inverse of {@link parseWeeklyHours}, with one part for all days that have the same windows. */
export function formatWeeklyHours(week: WeeklyHours): string {
  const timesOf = (day: Weekday) => formatWindows(week[day] ?? [])
  const daysOf = Map.groupBy(WEEKDAYS, timesOf)
  daysOf.delete('')
  return [...daysOf].map(([times, days]) => `${formatDays(days)} ${times}`).join('; ')
}

/** `mon-wed,fri` */
function formatDays(days: readonly Weekday[]): string {
  const isIn = (at: number) => days.includes(WEEKDAYS[at] as Weekday)
  return WEEKDAYS.flatMap((first, at) => {
    if (!isIn(at) || isIn(at - 1)) return []
    const end = WEEKDAYS.findIndex((_, day) => day > at && !isIn(day))
    const last = WEEKDAYS.at(end < 0 ? -1 : end - 1)
    return first === last ? first : `${first}-${last}`
  }).join(',')
}

/**
 * Parses `09:00-12:30,13:30-18:00`, sorted.
 * @param part the text that an error names
 * @throws WorkingHoursError
 */
export const parseWindows = (text: string, part: string): Window[] =>
  sortWindows(
    text.split(',').map((piece) => parseWindow(piece.trim(), part)),
    part,
  )

/** The inverse of {@link parseWindows}. */
export const formatWindows = (windows: readonly Window[]): string =>
  windows.map(({ start, end }) => `${start}-${end}`).join(',')

function parseDays(text: string, part: string): Weekday[] {
  return text
    .toLowerCase()
    .split(',')
    .flatMap((piece) => {
      const [first = -1, last = first, ...rest] = piece
        .split('-')
        .map((day) => WEEKDAYS.indexOf(day.trim() as Weekday))
      if (first < 0 || last < first || rest.length > 0) {
        throw new WorkingHoursError(
          `"${part}": days are mon, tue, wed, thu, fri, sat, sun or a span such as mon-fri`,
        )
      }
      return WEEKDAYS.slice(first, last + 1)
    })
}

function parseWindow(text: string, part: string): Window {
  const [start = '', end = '', ...rest] = text.split('-').map((time) => time.trim())
  if (!TIME.test(start) || !TIME.test(end) || rest.length > 0) {
    throw new WorkingHoursError(`"${part}": times are HH:MM-HH:MM from 00:00 to 23:59, not "${text}"`)
  }
  if (start >= end)
    throw new WorkingHoursError(
      `"${part}": ${start} is not before ${end}; split hours that cross midnight: to 23:59, and from 00:00 of the next day`,
    )
  return { start, end }
}

/** Sorts windows by their start. @throws WorkingHoursError when two of them overlap */
function sortWindows(windows: Window[], part: string): Window[] {
  const sorted = windows.sort((a, b) => (a.start < b.start ? -1 : 1))
  for (const [index, window] of sorted.entries()) {
    const next = sorted[index + 1]
    if (next && next.start < window.end)
      throw new WorkingHoursError(
        `"${part}": ${next.start}-${next.end} overlaps ${window.start}-${window.end}`,
      )
  }
  return sorted
}
