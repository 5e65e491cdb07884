/** Who books what: the chances behind the calendars. */
import { daysLater } from '../../shared/domain/clock.ts'
import type { Interval } from '../../shared/domain/interval.ts'
import type { DemoPatient } from './patients.ts'
import { DAYS_AHEAD, type DemoDoctor, type Practice } from './practice.ts'
import type { Random } from './random.ts'

const ADULT = 18
/** Minutes that pass where nobody has booked. */
const GAP = 30

/** The share of a day that is taken: the further ahead, the emptier the calendar. */
export const busyOn = ({ busy }: Practice, day: number): number =>
  busy * (day < 0 ? 1 : 1 - day / (1.5 * DAYS_AHEAD))

/** Days from booking to visit; most are few. */
export const lead = (random: Random): number => random.integer(0, random.integer(1, 30))

/** Which stretches of the openings are booked; none overlap. */
export function taken(
  random: Random,
  openings: readonly Interval[],
  lengths: readonly [number, ...number[]],
  busy: number,
): Interval[] {
  return openings.flatMap(({ from, to }) => {
    const slots: Interval[] = []
    for (let at = from; at < to; ) {
      const length = random.pick(lengths)
      const isTaken = random.chance(busy) && at + length <= to
      if (isTaken) slots.push({ from: at, to: at + length })
      at += isTaken ? length : GAP
    }
    return slots
  })
}

export const isSeenBy = (
  { specialty }: DemoDoctor,
  { date_of_birth: birth }: DemoPatient,
  today: string,
): boolean => specialty !== 'Paediatrics' || (birth !== null && birth > daysLater(today, -ADULT * 365))

/** Some come often, some hardly ever; nobody twice on a day, or before the clinic knew them. */
export function whoComes(
  random: Random,
  pool: readonly DemoPatient[],
  there: ReadonlySet<DemoPatient>,
  bookedOn: string,
): DemoPatient | undefined {
  const last = pool.length - 1
  for (let attempt = 1; attempt <= 5; attempt++) {
    const patient = pool[Math.min(random.integer(0, last), random.integer(0, last))]
    if (patient && !there.has(patient) && isKnown(patient, bookedOn)) return patient
  }
  return undefined
}

const isKnown = ({ created_at, date_of_birth }: DemoPatient, on: string): boolean =>
  created_at.slice(0, 10) < on && (date_of_birth ?? '') < on
