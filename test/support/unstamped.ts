/** A stored record as it was written: without the time of its last change, which the store adds. */
export function unstamped(record: object | undefined): object | undefined {
  const { updatedAt: _, ...written } = { updatedAt: '', ...record }
  return record && written
}
