import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { documentClient } from '../../../shared/runtime/document-client.ts'

type RetryToken = { readonly getRetryCount: () => number; readonly getRetryDelay: () => number }

const MAX_ATTEMPTS = 12
const FIRST_DELAY_MS = 200
const MAX_DELAY_MS = 20_000

const token = (count: number, delayMs: number): RetryToken => ({
  getRetryCount: () => count,
  getRetryDelay: () => delayMs,
})

/**
 * Repeats each call with growing delays, for a minute on average. The SDK's own strategy has one quota for all calls of
 * a client, which a dozen concurrent calls use up within a second of an outage.
 */
const retryStrategy = {
  acquireInitialRetryToken: async (): Promise<RetryToken> => token(0, 0),
  refreshRetryTokenForRetry: async (
    before: RetryToken,
    { errorType }: { readonly errorType: string },
  ): Promise<RetryToken> => {
    const count = before.getRetryCount() + 1
    if (errorType === 'CLIENT_ERROR' || count >= MAX_ATTEMPTS) throw new Error('no more retries')
    return token(count, Math.random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** count))
  },
  recordSuccess: () => {},
}

/**
 * Creates the operator tool's DynamoDB client. A command has no deadline, and can have read a million items when one call
 * fails, so it waits for the table much longer than a function. A transaction that is rejected for a conflict, or because
 * its items are throttled, is repeated for seconds, as in functions.
 */
export const operatorClient = (config: DynamoDBClientConfig): DynamoDBDocumentClient =>
  documentClient({
    retryStrategy,
    requestHandler: { connectionTimeout: 5000, requestTimeout: 10_000, throwOnRequestTimeout: true },
    ...config,
  })
