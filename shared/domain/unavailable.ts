/** The store is throttling or down, after all retries; the caller may try again. */
export class UnavailableError extends Error {
  constructor(cause: unknown) {
    super('the store is not available', { cause })
    this.name = 'UnavailableError'
  }
}
