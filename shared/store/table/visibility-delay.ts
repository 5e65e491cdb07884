/**
 * How long after its time, the `updatedAt` of its records, a change can become visible. A reader of changes therefore ends
 * this long before now: nothing can appear before the end of what it has read.
 */
export const VISIBILITY_DELAY_MS = 20_000

/** The longest time from the time of a change to its commit. Older changes are built again. */
export const MAX_CHANGE_AGE_MS = 4000

/** The longest time that a transaction is attempted, with all repetitions. The rest of the delay is for clocks that differ. */
export const MAX_TRANSACTION_MS = 14_000
