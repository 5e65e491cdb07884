/** Random choices behind the calendars: booked times and patients. */

import { parseWeeklyHours, WEEKDAYS, type Window } from '../../shared/domain/booking/working-hours.ts'
import { addDays, dayOfWeek } from '../../shared/domain/clock.ts'
import { type Interval, parseTime } from '../../shared/domain/interval.ts'
import { timeOff } from '../clinic/import/entities/doctors.ts'
import type { DemoPatient } from './patients.ts'
import { DAYS_AHEAD, DAYS_SINCE_LEFT, type DemoDoctor, type Practice } from './practice.ts'
import type { SeededRandom } from './random.ts'

const ADULT_AGE = 18
/** Minutes to the next possible start after a time that is not booked. */
const GAP_MINUTES = 30

/** The booked share of a day. It falls with the number of days ahead. */
export const bookedShareOn = ({ bookedShare: busy }: Practice, day: number): number =>
  busy * (day < 0 ? 1 : 1 - day / (1.5 * DAYS_AHEAD))

/** Days from booking to appointment; usually few. */
export const leadDays = (random: SeededRandom): number => random.integer(0, random.integer(1, 30))

/** The booked parts of the openings, without overlaps. */
export function bookedSlots(
  random: SeededRandom,
  openings: readonly Interval[],
  lengths: readonly [number, ...number[]],
  bookedShare: number,
): Interval[] {
  return openings.flatMap(({ from, to }) => {
    const slots: Interval[] = []
    for (let at = from; at < to; ) {
      const length = random.pick(lengths)
      const isTaken = random.chance(bookedShare) && at + length <= to
      if (isTaken) slots.push({ from: at, to: at + length })
      at += isTaken ? length : GAP_MINUTES
    }
    return slots
  })
}

export const canSee = (
  { specialty }: DemoDoctor,
  { date_of_birth: birth }: DemoPatient,
  today: string,
): boolean => specialty !== 'Paediatrics' || (birth !== null && birth > addDays(today, -ADULT_AGE * 365))

/** Picks a patient, some more often than others. No patient has two appointments on a day, or one before registration. */
export function pickPatient(
  random: SeededRandom,
  pool: readonly DemoPatient[],
  seenToday: ReadonlySet<DemoPatient>,
  bookedOn: string,
): DemoPatient | undefined {
  const last = pool.length - 1
  for (let attempt = 1; attempt <= 5; attempt++) {
    const patient = pool[Math.min(random.integer(0, last), random.integer(0, last))]
    if (patient && !seenToday.has(patient) && isKnown(patient, bookedOn)) return patient
  }
  return undefined
}

const isKnown = ({ created_at, date_of_birth }: DemoPatient, on: string): boolean =>
  created_at.slice(0, 10) < on && (date_of_birth ?? '') < on

/** A doctor's opening hours on a date: working hours minus breaks, days off and holidays. */
export function openingsOf(
  doctor: DemoDoctor,
  { formerDoctorHours: former, holidays, today }: Pick<Practice, 'formerDoctorHours' | 'holidays' | 'today'>,
): (date: string) => Interval[] {
  const week = parseWeeklyHours(doctor.hours ?? former[doctor.external_id] ?? '')
  const breaks = parseWeeklyHours(doctor.breaks ?? '')
  const daysOff = doctor.time_off === undefined ? [] : timeOff.parse(doctor.time_off)
  const lastDay = doctor.is_active === false ? addDays(today, -DAYS_SINCE_LEFT) : '9999-12-31'
  return (date) => {
    const isOff = daysOff.some(({ from, to }) => from <= date && date <= to)
    if (isOff || date > lastDay || holidays.includes(date.slice(5))) return []
    const weekday = WEEKDAYS[dayOfWeek(date) - 1] ?? 'mon'
    return (breaks[weekday] ?? []).map(toInterval).reduce(subtract, (week[weekday] ?? []).map(toInterval))
  }
}

const toInterval = ({ start, end }: Window): Interval => ({ from: parseTime(start), to: parseTime(end) })

const subtract = (openings: Interval[], pause: Interval): Interval[] =>
  openings
    .flatMap(({ from, to }) => [
      { from, to: Math.min(to, pause.from) },
      { from: Math.max(from, pause.to), to },
    ])
    .filter(({ from, to }) => from < to)
