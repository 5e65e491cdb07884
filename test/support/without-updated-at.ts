/** A stored record as it was written: without the time of its last change, which the store adds. */
export function withoutUpdatedAt(record: object | undefined): object | undefined {
  const { updatedAt: _, ...written } = { updatedAt: '', ...record }
  return record && written
}
