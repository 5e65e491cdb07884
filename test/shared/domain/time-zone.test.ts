import { readFileSync } from 'node:fs'
import moment from 'moment-timezone'
import { describe, expect, it, vi } from 'vitest'
import { timeZoneTable } from '../../../bin/zones.ts'
import { clockGaps, instantOf, wallClock } from '../../../shared/domain/clock.ts'
import { offsetAt, TABLE_END, TABLE_START, timeZone } from '../../../shared/domain/time-zone.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The instants in the years of the table at which the offset of a zone is another one, by the package. */
function changesOf(zone: string): number[] {
  const { untils, offsets } = moment.tz.zone(zone) as moment.MomentZone
  return untils.filter(
    (at, index) => at > TABLE_START && at < TABLE_END && offsets[index] !== offsets[index + 1],
  )
}

it('has the table that the package makes: if not, run `node bin/zones.ts`', () => {
  expect(readFileSync('shared/domain/time-zone-table.ts', 'utf8')).toBe(timeZoneTable())
})

it('has the offsets of the package for all of its names', () => {
  const differing = moment.tz.names().flatMap((zone) => {
    const instants = [TABLE_START, ...changesOf(zone).flatMap((at) => [at - 1, at]), TABLE_END - 1]
    return instants
      .filter((at) => offsetAt(at, zone) !== (moment.tz.zone(zone)?.utcOffset(at) as number) * -MINUTE_MS)
      .map((at) => [zone, new Date(at).toISOString()])
  })
  expect(differing).toEqual([])
})

/** Zones of every kind: both hemispheres, no changes, irregular changes, a date line, half hours, and an alias. */
const SAMPLE = [
  'Africa/Casablanca',
  'America/Argentina/Buenos_Aires',
  'America/Santiago',
  'Asia/Jerusalem',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Europe/Dublin',
  'Europe/Istanbul',
  'Pacific/Apia',
  'US/Eastern',
  'UTC',
]

it.each(process.env.EXHAUSTIVE === '1' ? moment.tz.names() : SAMPLE)(
  'has the local times of %s that moment has',
  (zone) => {
    const changes = changesOf(zone)
    const differing = [
      TABLE_START,
      ...changes.flatMap((at) => [at - HOUR_MS, at - 1, at, at + HOUR_MS]),
    ].filter((at) => {
      const local = moment.tz(at, zone)
      const date = local.format('YYYY-MM-DD')
      const time = local.format('HH:mm')
      return (
        clinicTimestamp(new Date(at).toISOString(), zone) !== local.format('YYYY-MM-DDTHH:mm:ssZ') ||
        wallClock(at, zone).date !== date ||
        Date.parse(instantOf(date, zone)) !== moment.tz(date, zone).valueOf() ||
        Date.parse(instantOf(date, zone, time)) !== moment.tz(`${date}T${time}`, zone).valueOf()
      )
    })
    expect(differing.map((at) => new Date(at).toISOString())).toEqual([])
    const gaps = changes.filter((at) => offsetAt(at, zone) > offsetAt(at - 1, zone))
    const firstSkipped = gaps.map((at) => wallClock(at + offsetAt(at - 1, zone), 'UTC').date)
    expect(firstSkipped.filter((date) => clockGaps(date, zone).length === 0)).toEqual([])
  },
)

describe('timeZone', () => {
  const parse = (name: string) => timeZone().safeParse(name).data

  it('accepts all zones that Intl lists', () => {
    expect(Intl.supportedValuesOf('timeZone').filter((name) => parse(name) !== name)).toEqual([])
  })

  it('converts a name in another letter case to the spelling of the table', () => {
    const names = moment.tz.names()
    expect(names.map((name) => parse(name.toLowerCase()))).toEqual(names)
    expect(names.map((name) => parse(name.toUpperCase()))).toEqual(names)
  })

  it.each([
    '',
    '0',
    '|',
    '21209640:180',
    'Africa/Cairo Egypt',
    'UTC | 0',
    'Europe/Atlantis',
    'UTC+3',
    '+03:00',
    '-05',
    '03:00',
    ' UTC',
    'UTC ',
    'Europe/Istanbul\n',
    '/UTC',
    'PST',
  ])('rejects %j', (text) => {
    expect(parse(text)).toBe(undefined)
  })
})

it('has the time of a zone without Intl, whose first use is slow', () => {
  const format = vi.spyOn(Intl, 'DateTimeFormat')
  expect(offsetAt(Date.UTC(2026, 6, 1), 'Europe/Kyiv')).toBe(3 * HOUR_MS)
  expect(format).not.toHaveBeenCalled()
})
