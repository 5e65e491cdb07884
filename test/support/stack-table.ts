import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { LocalStack } from '../../infra/local/stack.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { ENGINE_ACCESS } from './engine-access.ts'

/** The table of a local stack. */
export function stackTable({ endpoints, outputs }: Pick<LocalStack, 'endpoints' | 'outputs'>): Table {
  const client = new DynamoDBClient({
    endpoint: endpoints.dynamodb,
    ...ENGINE_ACCESS,
  })
  return openTable(DynamoDBDocumentClient.from(client), outputs.TableName ?? '')
}
