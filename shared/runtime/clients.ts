import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'

/**
 * One client a process. Time limits are well below a function's own, so that a store that hangs is answered as
 * unavailable rather than cut off.
 */
export const documentClient = (): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(
    new DynamoDBClient({ maxAttempts: 4, requestHandler: { connectionTimeout: 1000, requestTimeout: 4000 } }),
    { marshallOptions: { removeUndefinedValues: true } },
  )
