/** The days of doctors and rooms: the time that is taken, and the version that a booking is conditional on. */
import { addDays } from '../../domain/clock.ts'
import { type Interval, parseTime } from '../../domain/interval.ts'
import { LAST_DATE } from '../../domain/timestamp.ts'
import { type Key, SHORT_ID_LENGTH, shortId } from '../keys/key.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'

/** A day as it was read. */
export type BusyDay = {
  /** The time that each appointment takes, by its short id. */
  readonly times: ReadonlyMap<string, Interval>
  readonly version: number
}

/** A day that is missing is free. */
export const FREE_DAY: BusyDay = { times: new Map(), version: 0 }

export async function findDay(table: Table, key: Key): Promise<BusyDay> {
  return toBusyDay(await table.get(key))
}

/** The days of a partition from a date to `days` after it, in one query. */
export async function findDays(
  table: Table,
  pk: string,
  date: string,
  days: number,
): Promise<(date: string) => BusyDay> {
  const last = addDays(date, days)
  const items = await table.query({
    pk,
    from: date,
    to: last < LAST_DATE ? last : LAST_DATE,
    limit: days + 1,
  })
  const byDate = new Map(items.map((item) => [item.sk, toBusyDay(item)]))
  return (asked) => byDate.get(asked) ?? FREE_DAY
}

/** The time that appointments take, without one of them. */
export function busyTimes({ times }: BusyDay, except?: string): Interval[] {
  const excluded = except && shortId(except)
  return [...times].filter(([id]) => id !== excluded).map(([, time]) => time)
}

/** Whether an attribute of the item is the time of an appointment: others are its version and what later releases add, such as `holds`. */
export const isAppointmentTime = (name: string): boolean => name.length === SHORT_ID_LENGTH

export function toBusyDay(item: Item | undefined): BusyDay {
  if (!item) return FREE_DAY
  const times = Object.entries(item).filter(([name]) => isAppointmentTime(name))
  return {
    times: new Map(times.map(([id, time]) => [id, toInterval(String(time))])),
    version: (item.v as number | undefined) ?? 0,
  }
}

const toInterval = (time: string): Interval => ({
  from: parseTime(time.slice(0, 5)),
  to: parseTime(time.slice(6)),
})
