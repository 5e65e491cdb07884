import { mapConcurrent } from '../../store/table/map-concurrent.ts'

/** Enough to hide the latency of the table, few enough not to slow down the API. */
const CONCURRENCY = 16

/** Processes several items concurrently. */
export async function forEachConcurrent<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  await mapConcurrent(CONCURRENCY, items, work)
}
