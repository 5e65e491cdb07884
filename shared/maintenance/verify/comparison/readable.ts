/** What `decode` returns; null for an item that is not in the form that its store writes: it cannot be compared with anything then. */
export function readable<T>(decode: () => T): T | null {
  try {
    return decode()
  } catch {
    return null
  }
}
