/** Minutes of one day, `from` included and `to` not: 540 to 570 is 09:00 to 09:30. */
export type Interval = { readonly from: number; readonly to: number }

export const DAY_MINUTES = 1440

/** An appointment ends at 23:59 at the latest: none spans midnight. */
export const LAST_MINUTE = DAY_MINUTES - 1

export const overlaps = (a: Interval, b: Interval): boolean => a.from < b.to && b.from < a.to

/** `HH:MM` as minutes of the day. */
export const parseTime = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/** Minutes of the day as `HH:MM`. */
export const formatTime = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
