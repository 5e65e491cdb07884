/**
 * Does every piece of work, so many at a time: one that cannot be helped holds up none of the others.
 * @throws what the first that failed threw, once all were tried
 */
export async function allTried<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  atATime = 1,
): Promise<void> {
  const failures: unknown[] = []
  const rest = items[Symbol.iterator]()
  const lane = async () => {
    // Lanes share the iterator: each takes what is next.
    for (let next = rest.next(); !next.done; next = rest.next())
      await work(next.value).catch((error) => failures.push(error))
  }
  await Promise.all(Array.from({ length: atATime }, lane))
  if (failures.length > 0) throw failures[0]
}
