import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { callRetries, PATIENCE_OF_FUNCTIONS } from '../store/table/retries.ts'

/**
 * Creates the DynamoDB client; call it once per process. All attempts together take less time than a function has, so
 * that an unresponsive table results in an error rather than in a timeout of the function.
 */
export function documentClient(config: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    retryStrategy: callRetries(PATIENCE_OF_FUNCTIONS),
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
    ...config,
  })
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
}
