import { repeatsThrottledCalls } from '../store/table/request-signal.ts'

/** The SDK's own classes of errors. */
type ErrorInfo = { readonly errorType: string; readonly error?: unknown }

/** The state of one call: what the SDK asks of a token, and the time by which a further attempt must begin. */
type Attempts = {
  readonly getRetryCount: () => number
  readonly getRetryDelay: () => number
  readonly deadline: number
}

/** No attempt begins later than this after the first. */
export const LAST_ATTEMPT_MS = 4000

const MAX_RETRIES = 7
const FIRST_WAIT_MS = 25
const MAX_WAIT_MS = 800
/** A partition that throttles needs time rather than another request. */
const FIRST_WAIT_AFTER_THROTTLING_MS = 100

const RETRYABLE = new Set(['TRANSIENT', 'THROTTLING', 'SERVER_ERROR'])

/**
 * DynamoDB's decisions about a write. The SDK takes every error for a passing one while the machine's clock is wrong by
 * minutes, but repeating a rejected write only delays its caller.
 */
const REJECTIONS = new Set([
  'ConditionalCheckFailedException',
  'TransactionCanceledException',
  'TransactionConflictException',
])

const isRejection = (error: unknown): boolean => error instanceof Error && REJECTIONS.has(error.name)

/**
 * The retries of a single call of DynamoDB, limited by time: the SDK's own strategy gives up after three attempts even if
 * they took milliseconds, and waits a second after one that was throttled. With full jitter.
 */
export const callRetries = (now = () => performance.now(), random = Math.random) => ({
  acquireInitialRetryToken: async (): Promise<Attempts> => attempts(0, 0, now() + LAST_ATTEMPT_MS),

  refreshRetryTokenForRetry: async (token: Attempts, { errorType, error }: ErrorInfo): Promise<Attempts> => {
    const retries = token.getRetryCount()
    const first = errorType === 'THROTTLING' ? FIRST_WAIT_AFTER_THROTTLING_MS : FIRST_WAIT_MS
    const delay = Math.floor(random() * Math.min(MAX_WAIT_MS, first * 2 ** retries))
    // The SDK then throws the error of the last attempt.
    const isFinal = isRejection(error) || (errorType === 'THROTTLING' && !repeatsThrottledCalls())
    const isRetryable = RETRYABLE.has(errorType) && !isFinal
    if (!isRetryable || retries === MAX_RETRIES || now() + delay > token.deadline)
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
