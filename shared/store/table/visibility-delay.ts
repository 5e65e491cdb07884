import { WriteConflict } from './errors.ts'

/**
 * How long after its time, the `updatedAt` of its records, a change can become visible. A reader of changes therefore ends
 * this long before now: nothing can appear before the end of what it has read.
 */
export const VISIBILITY_DELAY_MS = 20_000

/** The longest time from the time of a change to its commit. Older changes are built again. */
export const MAX_CHANGE_AGE_MS = 4000

/** The longest time that a transaction is attempted, with all repetitions. The rest of the delay is for clocks that differ. */
export const MAX_TRANSACTION_MS = 14_000

/** The times of the changes of one transaction. Times are milliseconds since the epoch. */
export class ChangeTimes {
  #oldest: number | undefined

  /** The time of a change: now, or the creation of a new record if it was just now. */
  next(now: number, createdAt: string | null): string {
    const created = createdAt === null ? Number.NaN : Date.parse(createdAt)
    const time = now - MAX_CHANGE_AGE_MS < created && created <= now ? created : now
    this.#oldest = Math.min(time, this.#oldest ?? time)
    return new Date(time).toISOString()
  }

  add({ oldest }: ChangeTimes): void {
    if (oldest !== undefined) this.#oldest = Math.min(oldest, this.#oldest ?? oldest)
  }

  get oldest(): number | undefined {
    return this.#oldest
  }

  /** @throws WriteConflict if the changes are so old that they have to be built again */
  requireRecent(now: number): void {
    if (this.#oldest !== undefined && now - this.#oldest > MAX_CHANGE_AGE_MS) throw new WriteConflict()
  }
}
