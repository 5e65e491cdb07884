import type { DemoPatient } from './patients.ts'
import type { PriceList } from './price-lists.ts'

/** A row of the importer's doctors. */
export type DemoDoctor = {
  readonly external_id: string
  readonly full_name: string
  readonly specialty: string | null
  readonly hours?: string
  readonly breaks?: string
  readonly time_off?: string
  readonly is_active?: boolean
}

/** What a clinic's year is made from. */
export type Practice = {
  readonly name: string
  readonly currency: string
  /** From UTC, all year round. */
  readonly offset: string
  readonly doctors: readonly DemoDoctor[]
  readonly patients: readonly DemoPatient[]
  /** `Y-m-d`; what is on it and after it is yet to come. */
  readonly today: string
  readonly seed: number
  /** The share of the doctors' time that is booked, from 0 to 1. */
  readonly bookedShare: number
  /** The share of the completed visits that is billed, from 0 to 1. */
  readonly billedShare: number
  /** The weeks of doctors who have left, by external id. */
  readonly formerDoctorHours: Readonly<Record<string, string>>
  /** `MM-DD` on which the clinic is closed. */
  readonly holidays: readonly string[]
  /** Lengths of visits, by specialty; of the others, that of ''. */
  readonly visitMinutes: Readonly<Record<string, [number, ...number[]]>>
  readonly prices: PriceList
  readonly greeting: string
}

/** Days before today that the records go back, and days ahead that are booked. */
export const DAYS_BACK = 365
export const DAYS_AHEAD = 42
/** Days ago that doctors who have left did so. */
export const DAYS_SINCE_LEFT = 150

/** What a doctor of this specialty has in a table by specialties. */
export const bySpecialty = <T>(table: Readonly<Record<string, T>>, { specialty }: DemoDoctor): T =>
  (table[specialty ?? ''] ?? table['']) as T
