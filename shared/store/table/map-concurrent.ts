/**
 * Calls `work` for every item, with at most `concurrency` calls at a time, and returns the results in the order of the
 * items. If a call fails, no further one is started, and the error is thrown once those that are running have ended.
 */
export async function mapConcurrent<T, R>(
  concurrency: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length)
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      try {
        results[index] = await work(items[index] as T)
      } catch (error) {
        next = items.length
        throw error
      }
    }
  }
  const workers = Array.from({ length: Math.min(concurrency, items.length) }, worker)
  const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected')
  if (failed) throw (failed as PromiseRejectedResult).reason
  return results
}
