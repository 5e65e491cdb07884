import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'

/**
 * Creates the DynamoDB client; call it once per process. All attempts together take less time than a function has, so
 * that an unresponsive table results in an error rather than in a timeout of the function.
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
