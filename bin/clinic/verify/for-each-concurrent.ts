import { mapConcurrent } from '../../../shared/store/table/map-concurrent.ts'

/** Enough to hide the way to the table and back, not so many that the API would feel them. */
const CONCURRENCY = 16

/** Works on several items at a time. */
export async function forEachConcurrent<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  await mapConcurrent(CONCURRENCY, items, work)
}
