import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Doctor } from '../../../../shared/domain/booking/doctor.ts'
import {
  bookingRejection,
  type ClosedReason,
  closedReason,
  type DoctorDay,
  freeSlots,
  isWorking,
  nextFreeSlots,
  scheduleOf,
} from '../../../../shared/domain/booking/slots.ts'
import { parseWeeklyHours, type Window } from '../../../../shared/domain/booking/working-hours.ts'
import { clockGaps } from '../../../../shared/domain/clock.ts'
import { formatTime, parseTime } from '../../../../shared/domain/interval.ts'
import { aDoctor } from '../../../support/sample-records.ts'
import { property, rounds } from '../../../support/scale.ts'
import { expectedRejection, minuteExists, wallClockAt } from '../../../support/slot-oracle.ts'

const NEVER = { date: '2000-01-01', seconds: 0 }

const dayOf = (facts: Partial<DoctorDay> & { doctorFacts?: Partial<Doctor> } = {}): DoctorDay => ({
  date: '2026-05-04',
  timezone: 'Europe/Istanbul',
  busy: [],
  ...facts,
  doctor: aDoctor(facts.doctorFacts),
})

const dayWith = (doctorFacts: Partial<Doctor>) => dayOf({ doctorFacts })
const week = parseWeeklyHours
const off = (from: string, to: string) => [{ from, to, reason: null }]
const interval = (from: string, to: string) => ({ from: parseTime(from), to: parseTime(to) })

const starts = (day: DoctorDay, duration = 30, now = NEVER) =>
  freeSlots(day, duration, now).map(({ from }) => formatTime(from))

describe('freeSlots', () => {
  it.each<[string, DoctorDay, number, string[]]>([
    ['steps by the duration', dayOf(), 60, ['09:00', '10:00', '11:00']],
    ['skips busy times', dayOf({ busy: [interval('10:15', '10:45')] }), 60, ['09:00', '11:00']],
    ['keeps its grid across a break', dayWith({ breaks: week('mon 09:30-10:00') }), 60, ['10:00', '11:00']],
    ['is empty on a weekday without hours', dayWith({ hours: week('tue 09:00-12:00') }), 60, []],
    ['is not empty before time off', dayWith({ timeOff: off('2026-05-05', '2026-05-09') }), 120, ['09:00']],
    ['is empty on a holiday of the clinic', dayWith({ holidays: off('2026-05-04', '2026-05-04') }), 60, []],
    ['is not empty before a holiday', dayWith({ holidays: off('2026-05-05', '2026-05-05') }), 120, ['09:00']],
    ['is empty for an inactive doctor', dayWith({ isActive: false }), 60, []],
    ['ends at 23:59 at the latest', dayWith({ hours: week('mon 23:00-23:59') }), 30, ['23:00']],
    // Working hours may end at midnight.
    ['ends before midnight', dayWith({ hours: { mon: [{ start: '23:00', end: '24:00' }] } }), 30, ['23:00']],
  ])('%s', (_, day, duration, expected) => {
    expect(starts(day, duration)).toEqual(expected)
  })

  it('offers today only what is still to come', () => {
    const at = (time: string) => ({ date: '2026-05-04', seconds: parseTime(time) * 60 })
    expect(starts(dayOf(), 60, at('10:00'))).toEqual(['11:00'])
    expect(starts(dayOf(), 60, { ...at('09:59'), seconds: parseTime('10:00') * 60 - 1 })).toEqual([
      '10:00',
      '11:00',
    ])
    expect(starts(dayOf(), 60, { date: '2026-05-05', seconds: 0 })).toEqual([])
  })

  it('skips the hour lost to daylight saving time, and offers the repeated hour once', () => {
    const night = { doctorFacts: { hours: parseWeeklyHours('sun 01:00-05:00') }, timezone: 'Europe/Berlin' }
    expect(starts(dayOf({ ...night, date: '2026-03-29' }), 60)).toEqual(['01:00', '03:00', '04:00'])
    expect(starts(dayOf({ ...night, date: '2026-03-29' }), 90)).toEqual(['04:00'].slice(1))
    expect(starts(dayOf({ ...night, date: '2026-10-25' }), 60)).toEqual(['01:00', '02:00', '03:00', '04:00'])
  })
})

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Asia/Beirut',
  'America/Havana',
]
const SHIFT_DAYS = [
  '2026-03-29',
  '2026-03-08',
  '2026-10-04',
  '2026-09-06',
  '2026-04-24',
  '2026-05-04',
  '2026-10-25',
  '2026-11-01',
]
const window = fc
  .tuple(fc.integer({ min: 0, max: 1400 }), fc.integer({ min: 10, max: 600 }))
  .map(([from, length]) => ({ start: formatTime(from), end: formatTime(Math.min(1439, from + length)) }))
/** Ascending and apart, touching now and then. */
const windows = fc.array(window, { maxLength: 4 }).map((all) => {
  const sorted = all.sort((a, b) => (a.start < b.start ? -1 : 1))
  return sorted.filter(
    (one, at) => one.start < one.end && sorted.slice(0, at).every((before) => before.end <= one.start),
  )
})
const dayArbitrary = fc
  .record({
    date: fc.constantFrom(...SHIFT_DAYS),
    timezone: fc.constantFrom(...ZONES),
    hours: windows,
    breaks: windows,
    blocks: windows,
    exception: fc.option(windows, { freq: 5 }),
    off: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    busy: fc.array(
      fc
        .tuple(fc.integer({ min: 0, max: 1400 }), fc.integer({ min: 5, max: 90 }))
        .map(([from, length]) => ({ from, to: Math.min(1439, from + length) })),
      { maxLength: 6 },
    ),
  })
  .map(({ date, timezone, hours, breaks, blocks, exception, off, busy }) => {
    const everyDay = (plan: readonly Window[]) =>
      Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((name) => [name, plan]))
    return dayOf({
      date,
      timezone,
      busy,
      doctorFacts: {
        hours: everyDay(hours),
        breaks: everyDay(breaks),
        exceptions: exception ? { [date]: exception } : {},
        timeOff: [
          ...(off ? [{ from: date, to: date, reason: null }] : []),
          ...blocks.map((times) => ({ from: date, to: date, times, reason: null })),
        ],
      },
    })
  })

describe('the rule', () => {
  it('rejects and allows every start as the slow oracle does', () => {
    fc.assert(
      fc.property(
        dayArbitrary,
        fc.integer({ min: 0, max: 1439 }),
        fc.integer({ min: 5, max: 480 }),
        (day, from, duration) => {
          expect(bookingRejection(day, { from, to: from + duration }, NEVER)).toBe(
            expectedRejection(day, from, duration),
          )
        },
      ),
      property(200, 50_000),
    )
  })

  it('has in the windows of the schedule exactly the minutes that nothing but bookings could reject', () => {
    fc.assert(
      fc.property(dayArbitrary, (day) => {
        const { windows } = scheduleOf(day)
        const shown = windows.flatMap(({ from, to }) =>
          Array.from({ length: to - from }, (_, at) => from + at),
        )
        const minutes = Array.from({ length: 1440 }, (_, minute) => minute)
        expect(shown).toEqual(
          minutes.filter((from) => expectedRejection({ ...day, busy: [] }, from, 1) === null),
        )
      }),
      property(50, 5_000),
    )
  })

  it('finds a doctor at work exactly when nothing but bookings and the time of day could reject a start', () => {
    fc.assert(
      fc.property(
        dayArbitrary,
        fc.integer({ min: 0, max: 1439 }),
        fc.integer({ min: 5, max: 480 }),
        (day, from, duration) => {
          const rejection = expectedRejection({ ...day, busy: [] }, from, duration)
          expect(isWorking(day, { from, to: from + duration })).toBe(rejection === null)
        },
      ),
      property(100, 10_000),
    )
  })

  it('lists exactly the grid starts that book', () => {
    fc.assert(
      fc.property(dayArbitrary, fc.integer({ min: 5, max: 480 }), (day, duration) => {
        const listed = new Set(freeSlots(day, duration, NEVER).map(({ from }) => from))
        const weekday = day.doctor.exceptions[day.date] ?? day.doctor.hours.mon ?? []
        const grid = weekday.flatMap(({ start, end }) => {
          const all: number[] = []
          for (let from = parseTime(start); from + duration <= parseTime(end); from += duration)
            all.push(from)
          return all
        })
        const off = day.doctor.timeOff.some(({ times }) => !times)
        expect([...listed]).toEqual(
          off
            ? []
            : [...new Set(grid)]
                .sort((a, b) => a - b)
                .filter((from) => expectedRejection(day, from, duration) === null),
        )
      }),
      property(100, 10_000),
    )
  })

  it('knows every minute that every zone skips in two years', () => {
    const zones = Intl.supportedValuesOf('timeZone').filter((_, at) => at % rounds(40, 1) === 0)
    for (const zone of zones) {
      for (
        let at = Date.UTC(2026, 0, 1), before = offset(at, zone);
        at < Date.UTC(2028, 0, 1);
        at += 86_400_000
      ) {
        const after = offset(at + 86_400_000, zone)
        if (after > before) {
          for (const day of [at - 86_400_000, at, at + 86_400_000]) {
            const date = new Date(day).toISOString().slice(0, 10)
            const skipped = clockGaps(date, zone)
            for (let minute = 0; minute < 1440; minute += 5) {
              const gone = skipped.some(({ from, to }) => from <= minute && minute < to)
              expect([zone, date, formatTime(minute), gone]).toEqual([
                zone,
                date,
                formatTime(minute),
                !minuteExists(date, formatTime(minute), zone),
              ])
            }
          }
        }
        before = after
      }
    }
  })
})

/** Minutes ahead of UTC. */
function offset(at: number, zone: string): number {
  return Math.round((Date.parse(`${wallClockAt(at, zone).replace(' ', 'T')}:00Z`) - at) / 60_000)
}

it.each([
  ['on the day before', '2026-05-03', '23:59', null],
  ['earlier that day', '2026-05-04', '09:59', null],
  ['at the start', '2026-05-04', '10:00', 'in_past'],
  ['on the day after, at an earlier time', '2026-05-05', '00:00', 'in_past'],
])('bookingRejection, checked %s, returns %s', (_, date, time, rejection) => {
  expect(bookingRejection(dayOf(), interval('10:00', '10:30'), { date, seconds: parseTime(time) * 60 })).toBe(
    rejection,
  )
})

describe('closedReason', () => {
  const breaks = { mon: [{ start: '11:00', end: '11:30' }] }
  const timeOff = off('2026-05-04', '2026-05-04')
  it.each<[ClosedReason, string, string, Partial<Doctor>]>([
    ['hours', '03:00', '03:30', {}],
    ['hours', '10:45', '12:15', { breaks }],
    ['hours', '10:00', '10:30', { exceptions: { '2026-05-04': [] } }],
    ['break', '10:45', '11:15', { breaks }],
    ['time_off', '10:00', '10:30', { timeOff }],
    ['holiday', '10:00', '10:30', { timeOff, holidays: timeOff }],
    ['doctor_inactive', '10:00', '10:30', { isActive: false, holidays: timeOff }],
  ])('is %s from %s to %s for a doctor with %j', (reason, from, to, facts) => {
    expect(closedReason(dayWith(facts), interval(from, to))).toBe(reason)
  })

  it('is hours for a time that a daylight saving change skips', () => {
    const doctorFacts = { hours: parseWeeklyHours('sun 01:00-05:00') }
    const day = dayOf({ doctorFacts, timezone: 'Europe/Berlin', date: '2026-03-29' })
    expect(closedReason(day, interval('02:00', '02:30'))).toBe('hours')
  })
})

describe('nextFreeSlots', () => {
  const MORNING = [interval('09:00', '11:00')]
  it.each([
    [
      'later on the same day first, then on the next days',
      MORNING,
      '09:30',
      '10:30',
      ['11:00', '09:00', '10:00'],
    ],
    ['neither the requested start, nor an earlier one', [], '11:00', '11:30', ['11:30', '09:00', '09:30']],
  ])('offers three slots, %s', (_, busy, from, to, [first, ...next]) => {
    const day = dayOf({ busy })
    const busyOn = (date: string) => (date === day.date ? busy : [])
    const offers = nextFreeSlots(day, busyOn, interval(from, to), 14, NEVER)
    const expected = [`2026-05-04 ${first}`, ...next.map((time) => `2026-05-05 ${time}`)]
    expect(offers.map((offer) => `${offer.date} ${formatTime(offer.from)}`)).toEqual(expected)
  })

  it('offers slots of the requested length', () => {
    const wanted = interval('09:00', '10:30')
    expect(nextFreeSlots(dayOf(), () => [], wanted, 0, NEVER)).toEqual([
      { date: '2026-05-04', from: parseTime('10:30'), to: parseTime('12:00') },
    ])
  })

  it.each([
    [0, []],
    [1, []],
    [2, ['2026-05-06']],
    [3, ['2026-05-06', '2026-05-07']],
    [14, ['2026-05-06', '2026-05-07', '2026-05-08']],
  ])('searches the requested day and %i days after it', (days, dates) => {
    const hours = parseWeeklyHours('mon-sun 09:00-09:30')
    const timeOff = [{ from: '2026-05-05', to: '2026-05-05', reason: null }]
    const day = dayOf({ doctorFacts: { hours, timeOff } })
    const offers = nextFreeSlots(day, () => [], { from: 540, to: 570 }, days, NEVER)
    expect(offers.map(({ date }) => date)).toEqual(dates)
  })

  it('offers nothing after the last date that can be booked', () => {
    const day = dayOf({ date: '2199-12-30', doctorFacts: { hours: parseWeeklyHours('mon-sun 09:00-09:30') } })
    const offers = nextFreeSlots(day, () => [], { from: 540, to: 570 }, 14, NEVER)
    expect(offers.map(({ date }) => date)).toEqual(['2199-12-31'])
  })

  it('reads no further day once it has three slots', () => {
    const read: string[] = []
    const busyOn = (date: string) => {
      read.push(date)
      return []
    }
    nextFreeSlots(dayOf(), busyOn, interval('09:00', '10:00'), 14, NEVER)
    expect(read).toEqual(['2026-05-04', '2026-05-05'])
  })

  it('is empty when the doctor has no working hours', () => {
    const day = dayWith({ hours: {} })
    expect(nextFreeSlots(day, () => [], { from: 540, to: 570 }, 14, NEVER)).toEqual([])
  })
})

describe('scheduleOf', () => {
  const MONDAY = { hours: week('mon 09:00-12:00'), holidays: off('2026-05-04', '2026-05-04') }

  const AWAY = { timeOff: off('2026-05-01', '2026-05-09') }

  it.each<[string, DoctorDay, ReturnType<typeof scheduleOf>['closed']]>([
    ['null on a day with hours', dayWith({ hours: week('mon 09:00-12:00') }), null],
    ['holiday on a holiday, even during time off', dayWith({ ...MONDAY, ...AWAY }), 'holiday'],
    ['time_off during time off', dayWith({ ...MONDAY, holidays: [], ...AWAY }), 'time_off'],
    ['null on a holiday without hours', dayWith({ ...MONDAY, hours: week('tue 09:00-12:00') }), null],
    ['null for an inactive doctor', dayWith({ hours: week('mon 09:00-12:00'), isActive: false }), null],
  ])('says that the day is closed: %s', (_, day, closed) => {
    expect(scheduleOf(day).closed).toBe(closed)
  })
})
