import { addDays, dayOfWeek } from '../../shared/domain/clock.ts'
import { type Interval, parseTime } from '../../shared/domain/interval.ts'
import { parseWeeklyHours, WEEKDAYS, type Window } from '../../shared/domain/working-hours.ts'
import { timeOff } from '../clinic/import/doctors.ts'
import { DAYS_SINCE_LEFT, type DemoDoctor, type Practice } from './practice.ts'

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
