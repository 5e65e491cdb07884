/** Minutes since midnight, `from` inclusive and `to` exclusive: 540 to 570 is 09:00 to 09:30. */
export type Interval = { readonly from: number; readonly to: number }

export const DAY_MINUTES = 1440

/** The latest end of an appointment, 23:59, so that none spans midnight. */
export const LAST_MINUTE = DAY_MINUTES - 1

export const overlaps = (a: Interval, b: Interval): boolean => a.from < b.to && b.from < a.to

/** `HH:MM` as minutes since midnight. */
export const parseTime = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/** Minutes since midnight as `HH:MM`. */
export const formatTime = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
