import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { LocalStack } from '../../infra/local/stack.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'

/** The table of a local stack. */
export function stackTable({ endpoints, outputs }: Pick<LocalStack, 'endpoints' | 'outputs'>): Table {
  const client = new DynamoDBClient({
    endpoint: endpoints.dynamodb,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
  return openTable(DynamoDBDocumentClient.from(client), outputs.TableName ?? '')
}
