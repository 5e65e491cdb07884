import { formatTime } from '../../shared/domain/interval.ts'
import type { DemoPatient } from './patients.ts'
import type { PriceList } from './price-lists.ts'

/** A row of the importer's doctors. */
export type DemoDoctor = {
  readonly external_id: string
  readonly full_name: string
  readonly specialty: string | null
  readonly department_external_id?: string
  readonly hours?: string
  readonly breaks?: string
  readonly time_off?: string
  readonly is_active?: boolean
}

/** Parameters from which a clinic's records are generated. */
export type Practice = {
  readonly name: string
  readonly currency: string
  /** UTC offset, the same all year. */
  readonly offset: string
  readonly doctors: readonly DemoDoctor[]
  readonly patients: readonly DemoPatient[]
  /** `Y-m-d`. Appointments on this day and later are in the future. */
  readonly today: string
  readonly seed: number
  /** The share of the doctors' time that is booked, from 0 to 1. */
  readonly bookedShare: number
  /** The share of the completed appointments that is billed, from 0 to 1. */
  readonly billedShare: number
  /** Working hours of doctors who have left, by external id. */
  readonly formerDoctorHours: Readonly<Record<string, string>>
  /** Days on which the clinic is closed, as `MM-DD`. */
  readonly holidays: readonly string[]
  /** Lengths of appointments in minutes, by specialty; '' is for all other specialties. */
  readonly appointmentMinutes: Readonly<Record<string, [number, ...number[]]>>
  readonly prices: PriceList
  readonly greeting: string
}

/** Days of records before today, and days of bookings after it. */
export const DAYS_BACK = 365
export const DAYS_AHEAD = 42
/** Days since former doctors left. */
export const DAYS_SINCE_LEFT = 150

/** The table's entry for a doctor's specialty, or the entry of ''. */
export const bySpecialty = <T>(table: Readonly<Record<string, T>>, { specialty }: DemoDoctor): T =>
  (table[specialty ?? ''] ?? table['']) as T

/** The earlier of two days, as `Y-m-d`. */
export const earlier = (a: string, b: string): string => (a < b ? a : b)

/** The time of a day in minutes, as `2026-05-01T10:00:00+03:00`. */
export const timestamp = (date: string, minutes: number, offset: string, seconds = 0): string =>
  `${date}T${formatTime(minutes)}:${String(seconds).padStart(2, '0')}${offset}`
