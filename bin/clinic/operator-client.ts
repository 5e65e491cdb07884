import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { documentClient } from '../../shared/runtime/document-client.ts'

/**
 * Creates the operator tool's DynamoDB client. A command has no deadline, and can have read a million items when one call
 * fails, so it waits for the table for about a minute, where a function gives up within seconds.
 */
export const operatorClient = (config: DynamoDBClientConfig): DynamoDBDocumentClient =>
  documentClient({
    maxAttempts: 12,
    requestHandler: { connectionTimeout: 5000, requestTimeout: 10_000, throwOnRequestTimeout: true },
    ...config,
  })
