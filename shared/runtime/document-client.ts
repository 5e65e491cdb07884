import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { callRetries, PATIENCE_OF_FUNCTIONS } from '../store/table/retries.ts'

/** Named like the client's own middleware, which it replaces: that one assembles the header for every request. */
const SET_USER_AGENT = {
  name: 'getUserAgentMiddleware',
  step: 'build',
  priority: 'low',
  override: true,
} as const

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
  // It copies every request and response, a quarter of the time of a query that finds 100 records, even if nothing is logged.
  client.middlewareStack.remove('loggerMiddleware')
  client.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { headers: Record<string, string> }
      headers['user-agent'] = 'clinic-developer-api'
      return next(args)
    },
    SET_USER_AGENT,
  )
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } })
}
