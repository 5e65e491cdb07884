/** The days of doctors and rooms: the time that is taken, and the version that a booking is conditional on. */
import { addDays } from '../../domain/clock.ts'
import { type Interval, parseTime } from '../../domain/interval.ts'
import { LAST_DATE } from '../../domain/timestamp.ts'
import { type Key, SHORT_ID_LENGTH, shortId } from '../keys/key.ts'
import type { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'

/** The time of a hold, as its day contains it. */
export type HeldTime = {
  /** The short id of the hold. */
  readonly id: string
  readonly from: string
  readonly to: string
  /** Seconds since the epoch. */
  readonly until: number
}

/** A day as it was read. */
export type BusyDay = {
  /** The time that each appointment takes, by its short id. */
  readonly times: ReadonlyMap<string, Interval>
  /** Those that had not expired when the day was read. */
  readonly holds: readonly HeldTime[]
  readonly hasExpiredHolds: boolean
  readonly version: number
}

/** A day that is missing is free. */
export const FREE_DAY: BusyDay = { times: new Map(), holds: [], hasExpiredHolds: false, version: 0 }

/** The attribute of a day with its holds. */
export const HOLDS = 'holds'

/** @param now milliseconds since the epoch, by which holds expire */
export async function findDay(table: Table, key: Key, now: number): Promise<BusyDay> {
  return toBusyDay(await table.get(key), now)
}

/** The days of a partition from a date to `days` after it, in one query. */
export async function findDays(
  table: Table,
  pk: string,
  date: string,
  days: number,
  now: number,
): Promise<(date: string) => BusyDay> {
  const last = addDays(date, days)
  const items = await table.query({
    pk,
    from: date,
    to: last < LAST_DATE ? last : LAST_DATE,
    limit: days + 1,
  })
  const byDate = new Map(items.map((item) => [item.sk, toBusyDay(item, now)]))
  return (asked) => byDate.get(asked) ?? FREE_DAY
}

/** The time that appointments and holds take, without some of them, by their short ids. */
export function takenTimes({ times, holds }: BusyDay, except: readonly string[] = []): [string, Interval][] {
  const excluded = new Set(except.map(shortId))
  const held = holds.map(({ id, from, to }): [string, Interval] => [id, toInterval(`${from}-${to}`)])
  return [...times, ...held].filter(([id]) => !excluded.has(id))
}

export const busyTimes = (day: BusyDay, except?: readonly string[]): Interval[] =>
  takenTimes(day, except).map(([, time]) => time)

export const hasHold = (day: BusyDay | null, id: string): boolean =>
  day?.holds.some((hold) => hold.id === shortId(id)) ?? false

/** Requires a day to be as it was read. Its holds become what `change` returns, without those that have expired. */
export function requireDay(
  changes: Changeset,
  key: Key,
  day: BusyDay,
  change: (holds: readonly HeldTime[]) => readonly HeldTime[] = (holds) => holds,
): void {
  const holds = change(day.holds)
  changes.expectVersion(key, day.version)
  if (day.hasExpiredHolds || holds !== day.holds)
    changes.set(key, HOLDS, holds.length > 0 ? holds : undefined)
}

/** Ends a hold of a day. */
export const withoutHold =
  (id: string) =>
  (holds: readonly HeldTime[]): readonly HeldTime[] =>
    holds.filter((hold) => hold.id !== shortId(id))

/** Whether an attribute of the item is the time of an appointment: others are its version, its holds, and what later releases add. */
export const isAppointmentTime = (name: string): boolean => name.length === SHORT_ID_LENGTH

/** The time that each appointment of a day takes, by its short id. */
export function appointmentTimes(day: Item): Map<string, Interval> {
  const times = Object.entries(day).filter(([name]) => isAppointmentTime(name))
  return new Map(times.map(([id, time]) => [id, toInterval(String(time))]))
}

export function toBusyDay(item: Item | undefined, now: number): BusyDay {
  if (!item) return FREE_DAY
  const stored = (item[HOLDS] ?? []) as HeldTime[]
  const holds = stored.filter(({ until }) => until * 1000 > now)
  return {
    times: appointmentTimes(item),
    holds,
    hasExpiredHolds: holds.length < stored.length,
    version: item.v ?? 0,
  }
}

const toInterval = (time: string): Interval => ({
  from: parseTime(time.slice(0, 5)),
  to: parseTime(time.slice(6)),
})
