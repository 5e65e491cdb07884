import { describe, expect, it } from 'vitest'
import {
  formatWeeklyHours,
  parseWeeklyHours,
  WorkingHoursError,
} from '../../../../shared/domain/booking/working-hours.ts'

describe('parseWeeklyHours', () => {
  it('reads spans of days, several windows and parts in any order', () => {
    const week = parseWeeklyHours('Mon-Fri 13:30-18:00,09:00-12:30; sat 10:00-14:00')
    expect(week.mon).toEqual([
      { start: '09:00', end: '12:30' },
      { start: '13:30', end: '18:00' },
    ])
    expect(Object.keys(week)).toEqual(['mon', 'tue', 'wed', 'thu', 'fri', 'sat'])
    expect(parseWeeklyHours(formatWeeklyHours(week))).toEqual(week)
  })

  it('takes lists of days, touching windows and nothing at all', () => {
    expect(parseWeeklyHours('tue,thu 10:00-12:00,12:00-13:00').thu).toHaveLength(2)
    expect(parseWeeklyHours('')).toEqual({})
  })

  it('ignores white space around days, times and parts, and empty parts', () => {
    const expected = { mon: [{ start: '09:00', end: '10:00' }], tue: [{ start: '09:00', end: '10:00' }] }
    expect(parseWeeklyHours('  mon - tue  09:00 -10:00 ; ;')).toEqual(expected)
    expect(parseWeeklyHours('mon , tue 09:00-10:00\n')).toEqual(expected)
  })

  it('reads a span to the last day of the week', () => {
    expect(Object.keys(parseWeeklyHours('sat-sun 09:00-10:00'))).toEqual(['sat', 'sun'])
  })

  it.each([
    [
      'mon-fri 09:00-10:00;  sat x ;',
      '"sat x": write days, a space, then times, as in "mon-fri 09:00-17:00"',
    ],
    ['mon 09:00-10:00, x', '"mon 09:00-10:00, x": times are HH:MM-HH:MM from 00:00 to 23:59, not "x"'],
    [
      'fri 22:00-02:00',
      '"fri 22:00-02:00": 22:00 is not before 02:00; split hours that cross midnight: to 23:59, and from 00:00 of the next day',
    ],
    ['mon 10:00-12:00,09:00-11:00', '"mon 10:00-12:00,09:00-11:00": 10:00-12:00 overlaps 09:00-11:00'],
    [
      'xyz 09:00-10:00',
      '"xyz 09:00-10:00": days are mon, tue, wed, thu, fri, sat, sun or a span such as mon-fri',
    ],
  ])('names the part of %j that is wrong, and why', (text, message) => {
    expect(() => parseWeeklyHours(text)).toThrow(new WorkingHoursError(message))
  })

  it.each([
    'mon',
    '09:00-10:00',
    'mon 09:00',
    'mon 24:00-25:00',
    'mon 9:00-10:00',
    'mon 10:00-10:00',
    'fri-mon 09:00-10:00',
    'mon-tue-wed 09:00-10:00',
    'mon 09:00-11:00; mon 10:00-12:00',
    'mon 09:00-10:00 11:00-12:00',
    'mon 109:00-10:00',
    'mon 09:00-10:000',
    'mon 9:00-10:00',
    'mon 09:00-10:60',
    'mon 09:00-24:00',
    'mon 09:00-10:00-11:00',
    'xyz-mon 09:00-10:00',
    'mon-xyz 09:00-10:00',
  ])('rejects %j', (text) => {
    expect(() => parseWeeklyHours(text)).toThrow(WorkingHoursError)
  })
})

describe('formatWeeklyHours', () => {
  it('writes one part for all days with the same windows, in the order of the week', () => {
    const week = parseWeeklyHours('sat 10:00-14:00; mon,tue 13:00-18:00,09:00-12:00')
    expect(formatWeeklyHours({ ...week, wed: [] })).toBe('mon-tue 09:00-12:00,13:00-18:00; sat 10:00-14:00')
    expect(formatWeeklyHours({})).toBe('')
  })

  it.each(['mon-sun 09:00-10:00', 'mon-wed,fri,sun 09:00-10:00', 'mon,sat-sun 09:00-10:00; tue 10:00-11:00'])(
    'writes %j as it was read',
    (text) => {
      expect(formatWeeklyHours(parseWeeklyHours(text))).toBe(text)
    },
  )
})
