/** Upper bounds of a request or a delivery: read units of strongly consistent reads, write units, and round trips. */
export type Bound = readonly [reads: number, writes: number, roundTrips: number]

/** Round trips of any page and search: one for the credential, and three of the list. */
export const ROUND_TRIPS = 4

/** A delivery with its share of the fan-out, if an event goes to two endpoints; `retriedDelivery` if its first attempt fails. */
export const DELIVERY_UNITS: Readonly<
  Record<'delivery' | 'retriedDelivery', { readonly writes: number; readonly reads: number }>
> = {
  delivery: { writes: 12, reads: 9 },
  retriedDelivery: { writes: 16, reads: 15 },
}

/** Bytes of minified bundles, by the ids of functions. The first pattern that matches counts. Endpoints that only read begin with `get-` or `list-`. */
const BUNDLE_BYTES: readonly [pattern: RegExp, bytes: number][] = [
  [/^(get|list)-/, 480_000],
  [/^reference$/, 18_000],
  [/^create-patient$/, 685_824],
  [/^update-patient$/, 733_748],
  [/-patient$/, 507_895],
  [/^(create|update|reopen)-appointment$/, 538_375],
  [/-appointment$/, 531_127],
  [/^send-message$/, 763_648],
  [/^(ping-webhook|redeliver)$/, 543_062],
  [/-webhook(-secret)?$/, 519_326],
  [/^send-email$/, 583_369],
  [/^sms-receipts$/, 658_383],
  [/^(email-feedback|refresh-copies)$/, 474_619],
  [/^sweep-(messages|deliveries)$/, 495_689],
  [/^(fan-out-events|deliver-event|sweep-events)$/, 508_524],
  // Verification, migration and reconciliation of everything.
  [/^run-maintenance$/, 911_360],
]

/** Bytes of a function's minified bundle. */
export const bundleBound = (id: string): number =>
  BUNDLE_BYTES.find(([pattern]) => pattern.test(id))?.[1] ?? 551_360

/** Peak memory of `clinic import`, and its CPU time for each row, including the start of the process. */
export const MAX_IMPORT = { megabytes: 300, milliseconds: 5 }

/** What a caller waits for a new function, its start and first call, as a ratio to a bare handler with the same calls of the table. */
export const COLD_BOUND = 0.95
