/** Days as `Y-m-d` and times as minutes of the day, both on the clinic's wall clock. */
import { formatTime } from '../../shared/domain/interval.ts'

export const earlier = (a: string, b: string): string => (a < b ? a : b)

/** `2026-05-01T10:00:00+03:00` */
export const timestamp = (date: string, minutes: number, offset: string, seconds = 0): string =>
  `${date}T${formatTime(minutes)}:${String(seconds).padStart(2, '0')}${offset}`
