import { describe, expect, it } from 'vitest'
import {
  formatWeeklyHours,
  parseWeeklyHours,
  WorkingHoursError,
} from '../../../shared/domain/working-hours.ts'

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
  ])('refuses %j', (text) => {
    expect(() => parseWeeklyHours(text)).toThrow(WorkingHoursError)
  })
})
