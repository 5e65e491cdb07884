/** What reads may cost, in strong read units and sequential round trips; authentication's one read is on top. */
export type Bound = { readonly units: number; readonly roundTrips: number }

export const ROUND_TRIPS = 3

/** Patients unfiltered, whatever the page and the clinic's size. */
export const pageBound = (limit: number): Bound => ({ units: limit <= 20 ? 3 : 10, roundTrips: ROUND_TRIPS })

/** A search by a function that has the clinic's index in memory. */
export const warmSearchBound = (limit: number): Bound => ({ units: limit + 2, roundTrips: ROUND_TRIPS })

/** A search that loads the index first: grows with the clinic. */
export const coldSearchBound = (patients: number): Bound => ({
  units: patients <= 1_000 ? 60 : patients <= 100_000 ? 500 : 5_000,
  roundTrips: ROUND_TRIPS,
})

/** Entering one patient, in write units, with room for its events and its idempotency record. */
export const CREATE_PATIENT_UNITS = 12

/** A page of a calendar list that is not one patient's. */
export function listBound(records: number, limit: number): Bound {
  const [small, large] = records <= 1_000 ? [8, 16] : records <= 100_000 ? [16, 28] : [36, 40]
  return { units: limit <= 20 ? small : large, roundTrips: ROUND_TRIPS }
}

/** Everything of one patient is read: about eleven rows a unit, whatever the page. */
export const patientListBound = (rows: number): Bound => ({
  units: Math.ceil(rows / 11) + 1,
  roundTrips: ROUND_TRIPS,
})

/** Writes, in write units, with room for their events and idempotency records. */
export const WRITE_UNITS = { appointment: 26, statusChange: 26, invoice: 18, message: 16 } as const
