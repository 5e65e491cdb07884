/**
 * All retries, each with full jitter and a time budget. A call that the store did not
 * answer is sent again by the SDK (`callRetries`); work whose write was rejected is decided again from its reads (`retryOnConflict`).
 */
import { setTimeout as wait } from 'node:timers/promises'
import { ConditionFailed, errorName, Throttled, UnavailableError, WriteConflict } from './errors.ts'
import { abortOption, currentScope } from './request-scope.ts'

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
  sleep: (ms) => wait(ms, undefined, { signal: abortOption().abortSignal }),
  random: Math.random,
}

/** Well under a function's own limit of 15 s, so that a caller gets a 503 rather than a 504. */
export const RETRY_BUDGET_MS = 7000

/** When to stop retrying: after the budget, or at the deadline of the request, of which several retries may be a part. */
const retryDeadline = ({ now }: Timing): number => Math.min(now() + RETRY_BUDGET_MS, currentScope().deadline)

/** A transaction takes about 18 ms: after a shorter wait, writers would only collide again. */
const FIRST_WAIT_MS = 25
const MAX_WAIT_MS = 800

/**
 * Runs work that reads, decides, and writes on the condition that nothing it read has changed. If another writer was
 * faster, the work runs again from its reads: a rejected write is never repeated unchanged. `attempt` counts from 1.
 * @throws UnavailableError when the budget is spent
 */
export async function retryOnConflict<T>(
  work: (attempt: number) => Promise<T>,
  timing: Timing = SYSTEM_TIMING,
  isWorthRetrying = isRetryable,
): Promise<T> {
  let backOff: ReturnType<typeof backoff> | undefined
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt)
    } catch (error) {
      if (!isWorthRetrying(error)) throw error
      backOff ??= backoff(timing)
      await backOff(error)
    }
  }
}

/** Whether the work may succeed when it reads and decides again. */
export const isRetryable = (error: unknown): boolean => error instanceof ConditionFailed || isRejected(error)

const isRejected = (error: unknown): boolean => error instanceof WriteConflict || error instanceof Throttled

/** Runs a write that depends on no earlier read: a failed condition is the result. @throws ConditionFailed; UnavailableError */
export const repeatOnConflict = <T>(work: () => Promise<T>, timing?: Timing): Promise<T> =>
  retryOnConflict(work, timing, isRejected)

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

/** How long a client repeats a call that the store does not answer, or throttles. Waits double with each retry. */
export type Patience = {
  readonly retries: number
  readonly firstWaitMs: number
  readonly maxWaitMs: number
  /** No attempt begins later than this after the first. */
  readonly lastAttemptMs: number
}

/** All attempts together take less time than a function has. */
export const PATIENCE_OF_FUNCTIONS: Patience = {
  retries: 7,
  firstWaitMs: FIRST_WAIT_MS,
  maxWaitMs: MAX_WAIT_MS,
  lastAttemptMs: 4000,
}

/** A partition that throttles needs time rather than another request. */
const WAIT_FACTOR_AFTER_THROTTLING = 4

const REPEATED = new Set(['TRANSIENT', 'THROTTLING', 'SERVER_ERROR'])

/**
 * DynamoDB's decisions about a write. While the machine's clock is minutes off, the SDK treats every error as transient, but
 * repeating a rejected write only delays its caller.
 */
const REJECTIONS = new Set([
  'ConditionalCheckFailedException',
  'TransactionCanceledException',
  'TransactionConflictException',
])

/** The state of one call: what the SDK asks of a token, and the time by which a further attempt must begin. */
type Attempts = {
  readonly getRetryCount: () => number
  readonly getRetryDelay: () => number
  readonly deadline: number
}

/**
 * The `retryStrategy` of a client of the SDK, whose own gives up after three attempts even if they took milliseconds, waits a second
 * after one that was throttled, and has one quota for all calls of a client.
 */
export const callRetries = (
  { retries: maxRetries, firstWaitMs, maxWaitMs, lastAttemptMs }: Patience,
  now = () => performance.now(),
  random = Math.random,
) => ({
  acquireInitialRetryToken: async (): Promise<Attempts> => attempts(0, 0, now() + lastAttemptMs),

  refreshRetryTokenForRetry: async (
    token: Attempts,
    { errorType, error }: { readonly errorType: string; readonly error?: unknown },
  ): Promise<Attempts> => {
    const retries = token.getRetryCount()
    const isThrottled = errorType === 'THROTTLING'
    const first = isThrottled ? firstWaitMs * WAIT_FACTOR_AFTER_THROTTLING : firstWaitMs
    const delay = Math.floor(random() * Math.min(maxWaitMs, first * 2 ** retries))
    const isFinal = REJECTIONS.has(errorName(error)) || (isThrottled && !currentScope().repeatsThrottled)
    // The SDK then throws the error of the last attempt.
    if (!REPEATED.has(errorType) || isFinal || retries === maxRetries || now() + delay > token.deadline)
      throw new Error('No further attempt')
    return attempts(retries + 1, delay, token.deadline)
  },

  recordSuccess: () => {},
})

const attempts = (retries: number, delay: number, deadline: number): Attempts => ({
  getRetryCount: () => retries,
  getRetryDelay: () => delay,
  deadline,
})
