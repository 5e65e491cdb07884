/** Reports how late the oldest item of a sweep was, in milliseconds: 0 when nothing was due. */
export type ReportLag = (ms: number) => void

type Sweep<T> = {
  readonly work: (item: T) => Promise<unknown>
  /** Items at a time. */
  readonly concurrency: number
  readonly now: () => number
  readonly reportLag?: ReportLag | undefined
}

/** A sweep runs every minute, and ends before the next one begins. */
export const MAX_SWEEP_MS = 45_000

/**
 * Processes batches until there are no more, or until its time is up; the next sweep continues. A failure does not stop the
 * other items. The lag is reported at the end: the one of the item that waited longest between `at`, when it was due, and
 * the beginning of its work.
 * @throws the first error, at the end
 */
export async function sweepBatches<T extends { readonly at: number }>(
  batches: AsyncIterable<readonly T[]>,
  { work, concurrency, now, reportLag }: Sweep<T>,
): Promise<void> {
  const end = now() + MAX_SWEEP_MS
  const isOver = () => now() >= end
  const failures: unknown[] = []
  let lag = 0
  let isRead = true
  const workInTime = async (item: T) => {
    const begin = now()
    if (begin >= end) return
    lag = Math.max(lag, begin - item.at)
    await work(item)
  }
  try {
    for await (const batch of batches) {
      await settleAll(batch, workInTime, concurrency).catch((error) => failures.push(error))
      if (isOver()) break
    }
  } catch (error) {
    isRead = false
    failures.push(error)
  }
  // The lag of items that could not be read is unknown.
  if (lag > 0 || isRead) reportLag?.(lag)
  if (failures.length > 0) throw failures[0]
}

/**
 * Runs `work` for every item, `concurrency` at a time. A failure does not stop the others.
 * @throws the first error, after all items have been processed
 */
export async function settleAll<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  concurrency = 1,
): Promise<void> {
  const failures: unknown[] = []
  const iterator = items[Symbol.iterator]()
  const runNext = async () => {
    // All runners share the iterator.
    for (let next = iterator.next(); !next.done; next = iterator.next())
      await work(next.value).catch((error) => failures.push(error))
  }
  await Promise.all(Array.from({ length: concurrency }, runNext))
  if (failures.length > 0) throw failures[0]
}

/** The longest delay before an item that was queued is checked again. */
const MAX_RECHECK_DELAY_MS = 60 * 60_000

/** When an item that is queued now is checked, in case its queue message is lost: later, the longer it has waited already. */
export const recheckDelay = (waitedMs: number, minMs: number): number =>
  Math.min(Math.max(minMs, waitedMs), MAX_RECHECK_DELAY_MS)

/**
 * Queues an item that is due `at`. Its time moves to `dueAt` before that, so that only one of two concurrent sweeps queues it, and back if
 * the queue does not accept it. False if the item had another time by then.
 * @throws the error of `push`
 */
export async function requeue(
  { at, dueAt }: { readonly at: number; readonly dueAt: number },
  move: (from: number, to: number) => Promise<boolean>,
  push: () => Promise<unknown>,
): Promise<boolean> {
  if (!(await move(at, dueAt))) return false
  try {
    await push()
  } catch (error) {
    await move(dueAt, at)
    throw error
  }
  return true
}
