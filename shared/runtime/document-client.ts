import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'

/**
 * One client a process. All attempts together take less than a function's own limit, so that a store that hangs is
 * answered as unavailable rather than cut off.
 */
export const documentClient = (config: DynamoDBClientConfig = {}): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(
    new DynamoDBClient({
      maxAttempts: 3,
      requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
      ...config,
    }),
    { marshallOptions: { removeUndefinedValues: true } },
  )
