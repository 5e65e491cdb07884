import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TimeOff } from '../../../../shared/domain/booking/doctor.ts'
import {
  DaysError,
  formatExceptions,
  formatTimeOff,
  parseExceptions,
  parseTimeOff,
} from '../../../../shared/domain/booking/doctor-days.ts'
import { WorkingHoursError } from '../../../../shared/domain/booking/working-hours.ts'
import { singleLineText } from '../../../../shared/domain/patients/text-fields.ts'

const dates = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2199-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))

describe('days off', () => {
  it('are days or spans, with reasons in quotes or without', () => {
    expect(parseTimeOff('2026-12-24/2026-12-26; 2027-01-01')).toEqual([
      { from: '2026-12-24', to: '2026-12-26', reason: null },
      { from: '2027-01-01', to: '2027-01-01', reason: null },
    ])
    expect(parseTimeOff(' 2026-12-24  "A ""long"" trip; far" ;2027-01-01 ')).toEqual([
      { from: '2026-12-24', to: '2026-12-24', reason: 'A "long" trip; far' },
      { from: '2027-01-01', to: '2027-01-01', reason: null },
    ])
  })

  it('are blocks within a day with times, which follow whole days', () => {
    expect(parseTimeOff('2026-12-24 14:00-16:00 "Surgery"; 2027-01-01; 2026-12-24 09:00-09:30')).toEqual([
      { from: '2027-01-01', to: '2027-01-01', reason: null },
      { from: '2026-12-24', to: '2026-12-24', times: { start: '14:00', end: '16:00' }, reason: 'Surgery' },
      { from: '2026-12-24', to: '2026-12-24', times: { start: '09:00', end: '09:30' }, reason: null },
    ])
    expect(() => parseTimeOff('2026-12-24 16:00-14:00')).toThrow(WorkingHoursError)
  })

  it.each([
    '',
    ';',
    '2026-12-24/2026-12-25 14:00-16:00',
    '2026-12-24 14:00',
    '2026-12-24 14:00-15:00,16:00-17:00',
    '2026-12-24;',
    '2026-02-30',
    '2026-12-26/2026-12-24',
    '2026-12-24/2026-12-25/2026-12-26',
    '2026-12-24 Family',
    '2026-12-24"Family"',
    '2026-12-24 "Family',
    '2026-12-24 "Family" away',
    '2026-12-24 "a"b"',
    '2026-12-24 ""',
    '2026-12-24 " "',
    `2026-12-24 "${'x'.repeat(101)}"`,
  ])('are not %j', (text) => {
    expect(() => parseTimeOff(text)).toThrow(DaysError)
  })

  it('are the same once formatted and parsed', () => {
    const reasons = fc
      .oneof(
        fc.string({ unit: 'grapheme', maxLength: 30 }),
        fc.string({ unit: fc.constantFrom('"', ';', ' ', 'a') }),
      )
      .map((text) => singleLineText(100).safeParse(text).data ?? null)
    const days = fc
      .tuple(dates, dates, reasons)
      .map(([a, b, reason]): TimeOff => ({ from: a < b ? a : b, to: a < b ? b : a, reason }))
    const blocks = fc.tuple(dates, reasons).map(([from, reason]): TimeOff => {
      const times = { start: '14:00', end: '16:00' }
      return { from, to: from, times, reason }
    })
    fc.assert(
      fc.property(fc.array(days, { minLength: 1, maxLength: 6 }), fc.array(blocks), (whole, parts) => {
        const all = [...whole, ...parts]
        expect(parseTimeOff(formatTimeOff(all))).toEqual(all)
      }),
    )
  })

  it('are parsed in linear time', () => {
    const started = performance.now()
    for (const text of [`2026-12-24${' '.repeat(50_000)}x`, `2026-12-24 ${'"'.repeat(50_000)}x`])
      expect(() => parseTimeOff(text)).toThrow(DaysError)
    expect(performance.now() - started).toBeLessThan(1000)
  })
})

describe('exceptions', () => {
  it('are dates with hours, or days off', () => {
    const noon = { start: '09:00', end: '12:00' }
    expect(parseExceptions('2026-12-24 13:00-14:00, 09:00-12:00; 2026-12-27 OFF;2026-12-28')).toEqual({
      '2026-12-24': [noon, { start: '13:00', end: '14:00' }],
      '2026-12-27': [],
      '2026-12-28': [],
    })
  })

  it.each(['', '2026-12-24 09:00-12:00;', '2026-02-30', '24.12.2026 off', '2026-12-24; 2026-12-24 off'])(
    'are not %j',
    (text) => {
      expect(() => parseExceptions(text)).toThrow(DaysError)
    },
  )

  it.each(['2026-12-24 12:00-09:00', '2026-12-24 closed', '2026-12-24 09:00-12:00,11:00-13:00'])(
    'cannot have the hours of %j',
    (text) => {
      expect(() => parseExceptions(text)).toThrow(WorkingHoursError)
    },
  )

  it('are the same once formatted and parsed', () => {
    const time = (minutes: number) => new Date(minutes * 60_000).toISOString().slice(11, 16)
    // Bounds in pairs: windows that touch or not, and never overlap.
    const windows = fc
      .uniqueArray(fc.integer({ min: 0, max: 1439 }), { maxLength: 8 })
      .map((minutes) => minutes.toSorted((a, b) => a - b).map(time))
      .map((bounds) =>
        Array.from({ length: Math.floor(bounds.length / 2) }, (_, at) => ({
          start: bounds[2 * at] as string,
          end: bounds[2 * at + 1] as string,
        })),
      )
    fc.assert(
      fc.property(fc.dictionary(dates, windows, { minKeys: 1, maxKeys: 5 }), (days) => {
        expect(parseExceptions(formatExceptions(days))).toEqual({ ...days })
      }),
    )
  })
})
