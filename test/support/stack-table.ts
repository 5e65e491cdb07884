import type { LocalStack } from '../../infra/local/stack.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { testClient } from './dynamodb/test-client.ts'

/** The table of a local stack. */
export function stackTable({ endpoints, outputs }: Pick<LocalStack, 'endpoints' | 'outputs'>): Table {
  return openTable(testClient(endpoints.dynamodb), outputs.TableName ?? '')
}
