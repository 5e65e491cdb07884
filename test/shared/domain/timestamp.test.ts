import { describe, expect, it } from 'vitest'
import { clinicTimestamp, isCalendarDate } from '../../../shared/domain/timestamp.ts'

it.each([
  ['2026-05-01T07:00:00.000Z', 'Europe/Istanbul', '2026-05-01T10:00:00+03:00'],
  ['2026-05-01T07:00:00.999Z', 'UTC', '2026-05-01T07:00:00+00:00'],
  ['2026-01-15T22:30:00Z', 'Asia/Kathmandu', '2026-01-16T04:15:00+05:45'],
  ['2026-07-01T03:00:00Z', 'America/New_York', '2026-06-30T23:00:00-04:00'],
  ['2026-12-01T03:00:00Z', 'America/New_York', '2026-11-30T22:00:00-05:00'],
  ['2026-12-01T03:00:00Z', 'America/Winnipeg', '2026-11-30T22:00:00-05:00'],
  ['2026-12-01T03:00:00Z', 'America/Inuvik', '2026-11-30T21:00:00-06:00'],
])('clinicTimestamp formats %s in %s as %s', (instant, timezone, expected) => {
  expect(clinicTimestamp(instant, timezone)).toBe(expected)
})

describe('isCalendarDate', () => {
  it.each(['2026-02-28', '2028-02-29', '0001-01-01', '9999-12-31'])('accepts %s', (text) => {
    expect(isCalendarDate(text)).toBe(true)
  })

  it.each([
    '',
    '0000-02-29',
    '0000-12-31',
    '2026-02-29',
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2026-1-01',
    '2026-01-1',
    '226-01-01',
    '2026',
    '2026-01',
    '+012026-01-01',
    '12026-01-01',
    '2026-01-011',
    '2026-01-01T00:00:00Z',
    ' 2026-01-01',
    '2026-01-01 ',
    '2026/01/01',
    'abcd-01-01',
    '2026-ab-01',
    '2026-01-ab',
  ])('rejects %j', (text) => {
    expect(isCalendarDate(text)).toBe(false)
  })
})
