/** Upper bounds of reads, in strong read units and sequential round trips, without the read of authentication. */
export type Bound = { readonly units: number; readonly roundTrips: number }

export const ROUND_TRIPS = 3

/** Any page of all patients, in a clinic of any size. */
export const pageBound = (limit: number): Bound => ({ units: limit <= 20 ? 3 : 10, roundTrips: ROUND_TRIPS })

/** A search with the clinic's index already in memory. */
export const warmSearchBound = (limit: number): Bound => ({ units: limit + 2, roundTrips: ROUND_TRIPS })

/** A search that loads the index first. Grows with the clinic. */
export const coldSearchBound = (patients: number): Bound => ({
  units: patients <= 1_000 ? 60 : patients <= 100_000 ? 500 : 5_000,
  roundTrips: ROUND_TRIPS,
})

/** Creating one patient, in write units, including its events and idempotency record. */
export const CREATE_PATIENT_UNITS = 12

/** An external id adds a link, and the check that no import made a record with it. */
export const EXTERNAL_ID_UNITS = 4

/** Changing one patient, in write units, including its events and idempotency record. */
export const UPDATE_PATIENT_UNITS = 16

/** Changing a patient's name, which also marks the copies of the name as stale, and lists them for the sweep. */
export const RENAME_PATIENT_UNITS = UPDATE_PATIENT_UNITS + 4

/** Any page of the active or of the inactive patients: reads the set of inactive ordinals, and rows that may be far apart. */
export const activePageBound = (patients: number, limit: number): Bound => ({
  units: limit + 2 + Math.ceil(patients / 29_000),
  roundTrips: ROUND_TRIPS,
})

/** A page of a calendar list without a patient filter. */
export function listBound(records: number, limit: number): Bound {
  const [small, large] = records <= 1_000 ? [8, 16] : records <= 100_000 ? [16, 28] : [36, 40]
  return { units: limit <= 20 ? small : large, roundTrips: ROUND_TRIPS }
}

/** The same with the patients of the page (`expand`), each of which is read. */
export function expandedBound(records: number, limit: number): Bound {
  const { units, roundTrips } = listBound(records, limit)
  return { units: units + limit, roundTrips: roundTrips + 1 }
}

/** Reads all rows of a range for any page, up to 1 MB of a facet in a round trip, between two reads of the tallies. */
export const uncountedBound = (rows: number): Bound => ({
  units: Math.ceil(rows / 16) + 10,
  roundTrips: ROUND_TRIPS + Math.floor(rows / 2_000),
})

/** Reads all rows of one patient for any page: about eleven rows per unit. */
export const patientListBound = (rows: number): Bound => ({
  units: Math.ceil(rows / 11) + 1,
  roundTrips: ROUND_TRIPS,
})

/** Writes, in write units, including events and idempotency records. */
export const WRITE_UNITS = { appointment: 26, statusChange: 26, invoice: 19, message: 20 } as const

/** The first page of free slots of 20, 100 and 500 doctors, each with an appointment on each day. */
export const AVAILABILITY: readonly Bound[] = [
  { units: 60, roundTrips: ROUND_TRIPS },
  { units: 160, roundTrips: ROUND_TRIPS },
  { units: 640, roundTrips: ROUND_TRIPS },
]

/** A delivery with its share of the fan-out, if an event goes to two endpoints; `retriedDelivery` if its first attempt fails. */
export const DELIVERY_UNITS: Readonly<
  Record<'delivery' | 'retriedDelivery', { readonly writes: number; readonly reads: number }>
> = {
  delivery: { writes: 12, reads: 9 },
  retriedDelivery: { writes: 16, reads: 15 },
}

/**
 * Bytes of minified bundles: those of 2026-11-23, less 50 KB for functions that contained Temporal at that time, and 111,360 more
 * for the plain table of time zones.
 */
const BUNDLE_BYTES: Readonly<Record<string, number>> = {
  'create-patient': 685_824,
  'update-patient': 733_748,
  'deactivate-patient': 507_895,
  'activate-patient': 507_895,
  'create-appointment': 533_338,
  'update-appointment': 535_607,
  'confirm-appointment': 531_101,
  'cancel-appointment': 531_127,
  'check-in-appointment': 531_102,
  'complete-appointment': 531_102,
  'no-show-appointment': 531_101,
  'reopen-appointment': 538_375,
  'send-message': 763_648,
  'create-webhook': 515_649,
  'update-webhook': 519_326,
  'delete-webhook': 501_987,
  'rotate-webhook-secret': 502_918,
  'ping-webhook': 542_510,
  redeliver: 543_062,
  reference: 15_877,
  'send-email': 583_369,
  'email-feedback': 462_561,
  'sms-receipts': 658_383,
  'sweep-messages': 495_689,
  'fan-out-events': 508_335,
  'deliver-event': 507_141,
  'sweep-events': 508_512,
  'sweep-deliveries': 493_928,
  'refresh-copies': 474_619,
  // Verification, migration and reconciliation of everything.
  'run-maintenance': 911_360,
}

/** The bound of a function that is not listed. */
const OTHER_BUNDLE_BYTES = 551_360

/** Bytes of a function's minified bundle. Names of endpoints that only read begin with `get-` or `list-`. */
export const bundleBound = (id: string): number =>
  /^(get|list)-/.test(id) ? 480_000 : (BUNDLE_BYTES[id] ?? OTHER_BUNDLE_BYTES)

/** Peak memory of `clinic import`, and its CPU time for each row, including the start of the process. */
export const MAX_IMPORT = { megabytes: 300, milliseconds: 5 }

/** The bounds that an import exceeds, as text. */
export const brokenImportBounds = (
  label: string,
  rows: number,
  { peakMegabytes, cpuMilliseconds }: { readonly peakMegabytes: number; readonly cpuMilliseconds: number },
): string[] => [
  ...(peakMegabytes > MAX_IMPORT.megabytes ? [`${label}: ${peakMegabytes} MB`] : []),
  ...(cpuMilliseconds / rows > MAX_IMPORT.milliseconds
    ? [`${label}: ${(cpuMilliseconds / rows).toFixed(1)} ms of CPU for each row`]
    : []),
]

/** What a caller waits for a new function, its start and first call, as a ratio to a bare handler with the same calls of the table. */
export const COLD_BOUND = 0.95
