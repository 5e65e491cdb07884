/** Classifies the errors of DynamoDB and the SDK. */

/** The store is throttling or down, after all retries; the caller may try again. */
export class UnavailableError extends Error {
  constructor(cause: unknown) {
    super('the store is not available', { cause })
    this.name = 'UnavailableError'
  }
}

/** A condition of a write did not hold; `failedIndexes` are the positions of the writes whose conditions failed. */
export class ConditionFailed extends Error {
  readonly failedIndexes: readonly number[]
  constructor(failedIndexes: readonly number[]) {
    super('a condition of the write did not hold')
    this.name = 'ConditionFailed'
    this.failedIndexes = failedIndexes
  }
}

/** Waits for a write that has no effect if its condition does not hold. Returns whether it held. */
export async function ifConditionHolds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionFailed) return false
    throw error
  }
}

/** A concurrent write used the same items; nothing was written. */
export class WriteConflict extends Error {
  constructor(cause?: unknown) {
    super('another write was in flight on the same item', { cause })
    this.name = 'WriteConflict'
  }
}

/** DynamoDB throttled the write; nothing was written. */
export class Throttled extends Error {
  constructor(cause: unknown) {
    super('the write was throttled', { cause })
    this.name = 'Throttled'
  }
}

/** Reasons of a cancelled transaction that mean throttling. */
const THROTTLING_REASONS = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded'])

const THROTTLING_ERRORS = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
])

const NETWORK_ERROR_CODE =
  /^(ECONN(REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|E(NET|HOST)UNREACH)$/

/** The connection was never made, so the request was not received. */
const UNSENT_ERROR_CODE = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(NET|HOST)UNREACH)$/

/** The shapes of the SDK's errors: a name, a network code, the server's own fault, or why a transaction was cancelled. */
type SdkError = {
  name?: string
  code?: string
  $fault?: string
  $metadata?: { httpStatusCode?: number; attempts?: number }
  CancellationReasons?: { Code?: string }[]
}

const sdkErrorOf = (error: unknown): SdkError => Object(error)

/** The attempts that the SDK has made. The error belongs to the last one; the response to an earlier one may be lost. */
export const attemptsOf = (error: unknown): number => sdkErrorOf(error).$metadata?.attempts ?? 1

export const errorName = (error: unknown): string => (error instanceof Error ? error.name : '')

export const isThrottling = (error: unknown): boolean => THROTTLING_ERRORS.has(errorName(error))

/** Whether an error means that the store throttles, is down or cannot be reached. */
export function isUnavailable(error: unknown): boolean {
  const { name = '', code = '', $fault, $metadata } = sdkErrorOf(error)
  return (
    THROTTLING_ERRORS.has(name) ||
    name === 'TimeoutError' ||
    name === 'AbortError' ||
    NETWORK_ERROR_CODE.test(code) ||
    $fault === 'server' ||
    ($metadata?.httpStatusCode ?? 0) >= 500
  )
}

/** Whether a write that ended with this error may have been committed: its response was lost, or never arrived. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  isUnavailable(error) &&
  !isThrottling(error) &&
  errorName(error) !== 'AbortError' &&
  !UNSENT_ERROR_CODE.test(sdkErrorOf(error).code ?? '')

/** The error to throw for a rejected transaction: by its cancellation reasons, or `error` itself if none is known. */
export function rejectionOf(error: unknown): unknown {
  const reasons = sdkErrorOf(error).CancellationReasons ?? []
  const indexesOf = (matches: (code: string) => boolean) =>
    reasons.flatMap(({ Code = '' }, index) => (matches(Code) ? [index] : []))
  const failed = indexesOf((code) => code === 'ConditionalCheckFailed')
  if (failed.length > 0) return new ConditionFailed(failed)
  if (indexesOf((code) => code === 'TransactionConflict').length > 0) return new WriteConflict(error)
  return indexesOf((code) => THROTTLING_REASONS.has(code)).length > 0 ? new Throttled(error) : error
}

/** The external id belongs to another record of the clinic. */
export class ExternalIdTaken extends Error {
  readonly record: string

  constructor(record: string) {
    super('external id taken')
    this.record = record
  }
}
