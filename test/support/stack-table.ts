import type { LocalStack } from '../../infra/local/stack.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { plainEngineClient } from './dynamodb/engine-client.ts'

/** The table of a local stack. */
export function stackTable({ endpoints, outputs }: Pick<LocalStack, 'endpoints' | 'outputs'>): Table {
  return openTable(plainEngineClient(endpoints.dynamodb), outputs.TableName ?? '')
}
