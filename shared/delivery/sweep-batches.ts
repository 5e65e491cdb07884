import { settleAll } from './settle-all.ts'

type Sweep<T> = {
  readonly work: (item: T) => Promise<unknown>
  /** Items at a time. */
  readonly concurrency: number
  readonly now: () => number
}

/** A sweep runs every minute, and ends before the next one begins. */
export const MAX_SWEEP_MS = 45_000

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
  const isOver = () => now() >= end
  const failures: unknown[] = []
  const workInTime = async (item: T) => (isOver() ? undefined : work(item))
  try {
    for await (const batch of batches) {
      await settleAll(batch, workInTime, concurrency).catch((error) => failures.push(error))
      if (isOver()) break
    }
  } catch (error) {
    failures.push(error)
  }
  if (failures.length > 0) throw failures[0]
}
