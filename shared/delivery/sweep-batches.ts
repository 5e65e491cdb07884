import { settleAll } from './settle-all.ts'

type Sweep<T> = {
  readonly work: (item: T) => Promise<unknown>
  /** Items at a time. */
  readonly concurrency: number
  readonly now: () => number
}

/** A sweep runs every minute, and ends before the next one begins. */
const MAX_SWEEP_MS = 45_000

/**
 * Processes batches until there are no more, or until its time is up; the next sweep continues. A failure does not stop the
 * other items.
 * @throws the first error, at the end
 */
export async function sweepBatches<T>(
  batches: AsyncIterable<readonly T[]>,
  { work, concurrency, now }: Sweep<T>,
): Promise<void> {
  const end = now() + MAX_SWEEP_MS
  const failures: unknown[] = []
  for await (const batch of batches) {
    await settleAll(batch, work, concurrency).catch((error) => failures.push(error))
    if (now() >= end) break
  }
  if (failures.length > 0) throw failures[0]
}
