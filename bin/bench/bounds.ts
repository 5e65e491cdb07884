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
export const ENTRY_UNITS = 12
