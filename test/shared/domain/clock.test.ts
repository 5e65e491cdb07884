import { describe, expect, it } from 'vitest'
import {
  addDays,
  clockGaps,
  dayOfWeek,
  instantOf,
  secondsUntilNextDay,
  timesShown,
  wallClock,
} from '../../../shared/domain/clock.ts'

const at = (instant: string) => Date.parse(instant)

describe('wallClock', () => {
  it.each([
    ['2026-05-01T07:08:09.999Z', 'UTC', '2026-05-01', 7 * 3600 + 8 * 60 + 9],
    ['2026-05-01T21:30:00.000Z', 'Europe/Istanbul', '2026-05-02', 30 * 60],
    ['2026-05-01T03:00:00.000Z', 'America/New_York', '2026-04-30', 23 * 3600],
  ])('reads %s in %s as %s, %i s', (instant, timezone, date, seconds) => {
    expect(wallClock(at(instant), timezone)).toEqual({ date, seconds })
  })

  it('reads a clock that has fractions of milliseconds', () => {
    expect(wallClock(at('2026-05-01T07:08:09.999Z') + 0.9, 'UTC').seconds).toBe(7 * 3600 + 8 * 60 + 9)
  })
})

// Intl has the years outside of the table, with local mean times in seconds.
it.each([
  ['0001-01-01', 'UTC', '0001-01-01T00:00:00.000Z'],
  ['0001-01-01', 'Europe/Berlin', '0000-12-31T23:06:32.000Z'],
  ['0050-06-01', 'America/New_York', '0050-06-01T04:56:02.000Z'],
  ['0099-12-31', 'Europe/Berlin', '0099-12-30T23:06:32.000Z'],
  ['0100-01-01', 'America/New_York', '0100-01-01T04:56:02.000Z'],
  ['1582-10-10', 'Europe/Berlin', '1582-10-09T23:06:32.000Z'],
  ['1970-01-01', 'Europe/London', '1969-12-31T23:00:00.000Z'],
  ['2009-12-31', 'America/Winnipeg', '2009-12-31T06:00:00.000Z'],
  ['2061-01-01', 'Europe/Berlin', '2060-12-31T23:00:00.000Z'],
])('instantOf is the start of %s in %s', (date, timezone, instant) => {
  expect(instantOf(date, timezone)).toBe(instant)
  expect(wallClock(at(instant), timezone)).toEqual({ date, seconds: 0 })
})

it.each([
  ['a whole day at midnight', '2026-05-01T00:00:00.000Z', 'UTC', 86_400],
  ['one second in the last millisecond', '2026-05-01T23:59:59.999Z', 'UTC', 1],
  ['one hour at 23:00 in a zone three hours ahead', '2026-05-01T20:00:00.000Z', 'Europe/Istanbul', 3600],
  ['23 hours when daylight saving time begins', '2026-03-28T23:00:00.000Z', 'Europe/Berlin', 23 * 3600],
  ['25 hours when daylight saving time ends', '2026-10-24T22:00:00.000Z', 'Europe/Berlin', 25 * 3600],
])('secondsUntilNextDay returns %s', (_, instant, timezone, seconds) => {
  expect(secondsUntilNextDay(at(instant), timezone)).toBe(seconds)
})

it('adds days across months and leap days', () => {
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01')
  expect(addDays('2028-02-28', 1)).toBe('2028-02-29')
  expect(addDays('2026-05-04', 0)).toBe('2026-05-04')
  expect(addDays('2026-05-04', -4)).toBe('2026-04-30')
})

it.each([
  ['2026-10-25', '02:30', 'Europe/Berlin', 2],
  ['2026-10-25', '03:00', 'Europe/Berlin', 1],
  ['2026-03-29', '02:30', 'Europe/Berlin', 0],
  ['2026-04-05', '01:45:59', 'Australia/Lord_Howe', 2],
  ['2026-10-25', '02:30', 'Europe/Istanbul', 1],
])('%s %s in %s is shown so often: %i', (date, time, timezone, expected) => {
  expect(timesShown(date, timezone, time)).toBe(expected)
})

it('numbers weekdays from 1 for Monday to 7 for Sunday', () => {
  expect(dayOfWeek('2026-05-04')).toBe(1)
  expect(dayOfWeek('2026-05-10')).toBe(7)
})

it.each([
  ['an hour when daylight saving time begins', '2026-03-29', 'Europe/Berlin', [{ from: 120, to: 180 }]],
  ['nothing on the day before', '2026-03-28', 'Europe/Berlin', []],
  ['nothing on the day after', '2026-03-30', 'Europe/Berlin', []],
  ['nothing when daylight saving time ends', '2026-10-25', 'Europe/Berlin', []],
  ['nothing in a zone without clock changes', '2026-03-29', 'Europe/Istanbul', []],
  ['nothing in UTC', '2026-03-29', 'UTC', []],
  ['half an hour on Lord Howe Island', '2026-10-04', 'Australia/Lord_Howe', [{ from: 120, to: 150 }]],
  ['the first hour of a day', '2018-11-04', 'America/Sao_Paulo', [{ from: 0, to: 60 }]],
  ['nothing on the day before the first hour is skipped', '2018-11-03', 'America/Sao_Paulo', []],
  ['the last hour of a day', '2024-03-30', 'America/Nuuk', [{ from: 1380, to: 1440 }]],
  ['nothing on the day after the last hour is skipped', '2024-03-31', 'America/Nuuk', []],
  ['a whole day at the date line', '2011-12-30', 'Pacific/Apia', [{ from: 0, to: 1440 }]],
  ['nothing on the day before a skipped day', '2011-12-29', 'Pacific/Apia', []],
  ['nothing on the day after a skipped day', '2011-12-31', 'Pacific/Apia', []],
  ['the part of a gap before midnight', '1919-03-30', 'America/Toronto', [{ from: 1410, to: 1440 }]],
  ['the part of a gap after midnight', '1919-03-31', 'America/Toronto', [{ from: 0, to: 30 }]],
  ['a gap of seconds, rounded outward', '1904-10-30', 'Asia/Hong_Kong', [{ from: 36, to: 60 }]],
  ['a gap that ends between minutes', '1972-01-07', 'Africa/Monrovia', [{ from: 0, to: 45 }]],
])('clockGaps returns %s', (_, date, timezone, gaps) => {
  expect(clockGaps(date, timezone)).toEqual(gaps)
})
