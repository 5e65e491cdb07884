/**
 * Does every piece of work, so many at a time: one that cannot be helped holds up none of the others.
 * @throws what the first that failed threw, once all were tried
 */
export async function settleAll<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  concurrency = 1,
): Promise<void> {
  const failures: unknown[] = []
  const iterator = items[Symbol.iterator]()
  const runNext = async () => {
    // Lanes share the iterator: each takes what is next.
    for (let next = iterator.next(); !next.done; next = iterator.next())
      await work(next.value).catch((error) => failures.push(error))
  }
  await Promise.all(Array.from({ length: concurrency }, runNext))
  if (failures.length > 0) throw failures[0]
}
