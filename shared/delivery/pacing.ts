type Pacing = {
  /** Between the beginnings of two pieces of work. */
  readonly intervalMs: number
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<unknown>
}

/**
 * Returns a function that waits until the next piece of work may begin. It does not wait for the one before to end, so
 * work that takes longer than the interval overlaps.
 */
export function pacing({ intervalMs, now, sleep }: Pacing): () => Promise<void> {
  let next = Number.NEGATIVE_INFINITY
  return async () => {
    const waitMs = Math.max(0, next - now())
    next = now() + waitMs + intervalMs
    if (waitMs > 0) await sleep(waitMs)
  }
}
