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
