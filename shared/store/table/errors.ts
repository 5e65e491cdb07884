/** What DynamoDB's and the SDK's errors mean to us. */

/** Why a transaction was refused, when it is worth trying again. */
export const RETRYABLE_REASONS = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
])

/** A transaction that is still under way, perhaps our own of a lost reply, or one that another write ran into. */
export const RETRYABLE_ERRORS = new Set(['TransactionInProgressException', 'TransactionConflictException'])

const UNAVAILABLE_ERRORS = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TimeoutError',
])

const NETWORK_ERROR_CODE =
  /^(ECONN(REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|E(NET|HOST)UNREACH)$/

export const errorName = (error: unknown): string => (error instanceof Error ? error.name : '')

/** The shapes of the SDK's errors: a name, a network code, or the server's own fault. */
type SdkError = { name?: string; code?: string; $fault?: string; $metadata?: { httpStatusCode?: number } }

/** Whether an error is the store's being throttled, down or out of reach. */
export function isUnavailable(error: unknown): boolean {
  const { name = '', code = '', $fault, $metadata } = error as SdkError
  return (
    UNAVAILABLE_ERRORS.has(name) ||
    NETWORK_ERROR_CODE.test(code) ||
    $fault === 'server' ||
    ($metadata?.httpStatusCode ?? 0) >= 500
  )
}

/** Why each write of a refused transaction was refused; `None` for those that were not. */
export const cancellationCodes = (error: unknown): string[] =>
  ((error as { CancellationReasons?: { Code?: string }[] }).CancellationReasons ?? []).map(
    ({ Code }) => Code ?? '',
  )
