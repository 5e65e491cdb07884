/** Enough to hide the way to the table and back, not so many that the API would feel them. */
const ABREAST = 16

/** Works on several items at a time. */
export async function eachAbreast<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < items.length) await work(items[next++] as T)
  }
  await Promise.all(Array.from({ length: Math.min(ABREAST, items.length) }, worker))
}
