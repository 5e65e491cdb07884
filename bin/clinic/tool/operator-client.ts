import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { documentClient } from '../../../shared/runtime/document-client.ts'
import { callRetries } from '../../../shared/store/table/retries.ts'

/** For a minute on average. */
const PATIENCE = {
  retries: 11,
  firstWaitMs: 400,
  maxWaitMs: 20_000,
  lastAttemptMs: Number.POSITIVE_INFINITY,
}

/**
 * Creates the operator tool's DynamoDB client. A command has no deadline, and can have read a million items when one call
 * fails, so it waits for the table much longer than a function. A transaction that is rejected for a conflict, or because
 * its items are throttled, is repeated for seconds, as in functions.
 */
export const operatorClient = (config: DynamoDBClientConfig): DynamoDBDocumentClient =>
  documentClient({
    retryStrategy: callRetries(PATIENCE),
    requestHandler: { connectionTimeout: 5000, requestTimeout: 10_000, throwOnRequestTimeout: true },
    ...config,
  })
