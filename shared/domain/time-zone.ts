/**
 * Offsets of time zones without Intl and Temporal, whose first use in a process takes longer than the rest of a request. The
 * table has the offsets from 2010 to {@link LAST_YEAR} of the zones that Node lists; Intl has all others.
 */
import { ZONES } from './time-zone-table.ts'

/** The last year of the table. */
export const LAST_YEAR = 2060

const MINUTE_MS = 60_000
const TABLE_START = Date.UTC(2010, 0, 1)
/** A day early, since a rule's last year is a local one. */
const TABLE_END = Date.UTC(LAST_YEAR, 11, 30)

/** A change of clocks in each year: on the first such weekday from a day of a month on, at a minute of the local day. */
export type ZoneRule = {
  readonly month: number
  readonly firstDay: number
  readonly weekday: number
  readonly minute: number
  /** The offset from then on, in minutes. */
  readonly offset: number
}

/** The instant of a rule in a year, of clocks that have been `before` minutes ahead of UTC. */
export function ruleInstant(rule: ZoneRule, year: number, before: number): number {
  const first = new Date(Date.UTC(year, rule.month, rule.firstDay))
  const day = rule.firstDay + ((rule.weekday - first.getUTCDay() + 7) % 7)
  return Date.UTC(year, rule.month, day, 0, rule.minute - before)
}

/** The instants at which a zone's offset changes, and the offsets from then on; the first offset is the one before. */
type Zone = { readonly changes: number[]; readonly offsets: number[] }

const zones = new Map<string, Zone | null>()

function zoneOf(timezone: string): Zone | null {
  const known = zones.get(timezone)
  if (known !== undefined) return known
  const zone = readZone(timezone)
  zones.set(timezone, zone)
  return zone
}

/** Whether the table has an IANA zone. */
export const isListedZone = (timezone: string): boolean => zoneOf(timezone) !== null

/** Reads the line of a zone: its first offset, listed changes, and the rules from a year on. Numbers are in base 36. */
function readZone(timezone: string): Zone | null {
  const name = ZONES.indexOf(` ${timezone} `)
  // Only names begin with a capital: the numbers of a line are in lower case.
  if (name === -1 || !/^[A-Z][^\s|]*$/.test(timezone)) return null
  const line = ZONES.slice(ZONES.indexOf('|', name) + 1, ZONES.indexOf('\n', name))
  const [first = '', listed = '', year, ...rules] = line.split('|')
  const offsets = [readNumber(first) * 15]
  const changes: number[] = []
  let at = TABLE_START
  for (const change of listed === '' ? [] : listed.split(' ')) {
    const [delta = 0, offset = 0] = change.split(',').map(readNumber)
    at += delta * MINUTE_MS
    changes.push(at)
    offsets.push(offset * 15)
  }
  if (year === undefined) return { changes, offsets }
  const yearly = rules.map(readRule)
  for (let of = readNumber(year); of <= LAST_YEAR; of++)
    for (const rule of yearly) {
      changes.push(ruleInstant(rule, of, offsets.at(-1) as number))
      offsets.push(rule.offset)
    }
  return { changes, offsets }
}

function readRule(text: string): ZoneRule {
  const [month = 0, firstDay = 0, weekday = 0, minute = 0, offset = 0] = text.split(',').map(readNumber)
  return { month, firstDay, weekday, minute, offset: offset * 15 }
}

const readNumber = (text: string): number => Number.parseInt(text, 36)

/** How far the clocks of an IANA zone are ahead of UTC at an instant, both in milliseconds. @throws RangeError for an unknown zone */
export function offsetAt(at: number, timezone: string): number {
  const zone = at >= TABLE_START && at < TABLE_END ? zoneOf(timezone) : null
  if (!zone) return offsetOfIntl(at, timezone)
  let [low, high] = [0, zone.changes.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((zone.changes[middle] as number) <= at) low = middle + 1
    else high = middle
  }
  return (zone.offsets[low] as number) * MINUTE_MS
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
