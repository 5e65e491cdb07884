/** The one retry policy of all writers: full jitter, and a budget in time instead of a number of attempts. */
import { setTimeout as wait } from 'node:timers/promises'
import { ConditionFailed, Throttled, UnavailableError, WriteConflict } from './errors.ts'
import { requestDeadline, requestSignal } from './request-signal.ts'

/** The clock of retries, in milliseconds. Tests pass their own. */
export type Timing = {
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** A random number from 0 to 1. */
  readonly random: () => number
}

/** A sleep ends with an AbortError when the request being served has its response. */
export const SYSTEM_TIMING: Timing = {
  now: () => performance.now(),
  sleep: (ms) => wait(ms, undefined, { signal: requestSignal() }),
  random: Math.random,
}

/** Well under a function's own limit of 15 s, so that a caller gets a 503 rather than a 504. */
export const RETRY_BUDGET_MS = 7000

/** When to stop retrying: after the budget, or at the deadline of the request, of which several retries may be a part. */
export const retryDeadline = ({ now }: Timing): number => Math.min(now() + RETRY_BUDGET_MS, requestDeadline())

/** A transaction takes about 18 ms: after a shorter wait, writers would only collide again. */
const FIRST_WAIT_MS = 25
const MAX_WAIT_MS = 800

/**
 * Runs work that reads, decides, and writes on the condition that nothing it read has changed. If another writer was
 * faster, the work runs again from its reads: a rejected write is never repeated unchanged. `attempt` counts from 1.
 * @throws UnavailableError when the budget is spent
 */
export const retryOnConflict = <T>(
  work: (attempt: number) => Promise<T>,
  timing: Timing = SYSTEM_TIMING,
): Promise<T> => retry(work, isRetryable, timing)

/**
 * Runs a write that depends on no earlier read. Only a conflict with a concurrent write is retried; a failed condition is
 * the result.
 * @throws ConditionFailed; UnavailableError when the budget is spent
 */
export const repeatOnConflict = <T>(work: () => Promise<T>, timing: Timing = SYSTEM_TIMING): Promise<T> =>
  retry(work, isRejected, timing)

/** Whether the work may succeed when it reads and decides again. */
export const isRetryable = (error: unknown): boolean => error instanceof ConditionFailed || isRejected(error)

const isRejected = (error: unknown): boolean => error instanceof WriteConflict || error instanceof Throttled

async function retry<T>(
  work: (attempt: number) => Promise<T>,
  isWorthRetrying: (error: unknown) => boolean,
  timing: Timing,
): Promise<T> {
  const backOff = backoff(timing)
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt)
    } catch (error) {
      if (!isWorthRetrying(error)) throw error
      await backOff(error)
    }
  }
}

/**
 * Waits longer with each call, with full jitter, so that writers that collided do not collide again.
 * @throws UnavailableError instead of waiting past the budget
 */
export function backoff(timing: Timing): (cause: unknown) => Promise<void> {
  const { now, sleep, random } = timing
  const deadline = retryDeadline(timing)
  let ceiling = FIRST_WAIT_MS
  return async (cause) => {
    const ms = random() * ceiling
    ceiling = Math.min(MAX_WAIT_MS, ceiling * 2)
    if (now() + ms > deadline) throw new UnavailableError(cause)
    await sleep(ms)
  }
}
