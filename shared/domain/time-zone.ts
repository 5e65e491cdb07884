/**
 * Offsets of time zones without Intl, whose first use in a process takes longer than the rest of a request, and whose rules are
 * updated with Node only. The table has the offsets from 2010 to 2060; Intl has those of other years.
 */
import * as z from 'zod'
import { ZONES } from './time-zone-table.ts'

/** The first instant of the table, and the first one after it. */
export const TABLE_START = Date.UTC(2010, 0, 1)
export const TABLE_END = Date.UTC(2061, 0, 1)

const MINUTE_MS = 60_000

/** The instants at which a zone's offset changes, and the offsets from then on; the first offset is the one before. In milliseconds. */
type Zone = {
  readonly name: string
  readonly changes: readonly number[]
  readonly offsets: readonly number[]
}

/** The zones that something asked for, by the names in which it did. */
const zones = new Map<string, Zone | null>()

function zoneOf(timezone: string): Zone | null {
  const known = zones.get(timezone)
  if (known !== undefined) return known
  const zone = readZone(timezone.toLowerCase())
  zones.set(timezone, zone)
  return zone
}

/** Reads the line of a zone, by its name in lower case. */
function readZone(lowerCase: string): Zone | null {
  for (const line of ZONES.trim().split('\n')) {
    const [names = '', offsets = ''] = line.split(' | ')
    const name = names.split(' ').find((one) => one.toLowerCase() === lowerCase)
    if (name === undefined) continue
    const [first, ...changes] = offsets.split(' ')
    const pairs = changes.map((change) => change.split(':').map((minutes) => Number(minutes) * MINUTE_MS))
    return {
      name,
      changes: pairs.map(([at = 0]) => at),
      offsets: [Number(first) * MINUTE_MS, ...pairs.map(([, offset = 0]) => offset)],
    }
  }
  return null
}

/** The name of an IANA time zone, in any letter case. Parsing converts it to the spelling of the table. */
export const timeZone = () =>
  z
    .string()
    .refine((name) => zoneOf(name) !== null, { error: 'must be an IANA time zone such as Europe/Istanbul' })
    .overwrite((name) => zoneOf(name)?.name ?? name)

/** How far the clocks of an IANA zone are ahead of UTC at an instant, both in milliseconds. @throws RangeError for an unknown zone */
export function offsetAt(at: number, timezone: string): number {
  const zone = at >= TABLE_START && at < TABLE_END ? zoneOf(timezone) : null
  if (!zone) return offsetOfIntl(at, timezone)
  let [low, high] = [0, zone.changes.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((zone.changes[middle] ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return zone.offsets[low] ?? 0
}

const formats = new Map<string, Intl.DateTimeFormat>()

function offsetOfIntl(at: number, timezone: string): number {
  let format = formats.get(timezone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      calendar: 'gregory',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(timezone, format)
  }
  const second = Math.floor(at / 1000) * 1000
  const parts = Object.fromEntries(format.formatToParts(second).map(({ type, value }) => [type, value]))
  const { era, year, month, day, hour, minute, second: seconds } = parts
  // Date.UTC takes the years 0 to 99 as 1900 to 1999.
  const local = new Date(0)
  local.setUTCFullYear(era === 'BC' ? 1 - Number(year) : Number(year), Number(month) - 1, Number(day))
  return local.setUTCHours(Number(hour), Number(minute), Number(seconds)) - second
}

/** The instant from which the offset of a zone is another one than at `from`, if it is another one at `to`; else null. */
export function changeBetween(from: number, to: number, timezone: string): number | null {
  const before = offsetAt(from, timezone)
  if (offsetAt(to, timezone) === before) return null
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle, timezone) === before) low = middle
    else high = middle
  }
  return high
}
