import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { TestTable } from './table.ts'

/** What a deletion of a clinic runs with: half a minute after everything was written, so that it waits for nothing. */
export const removalPlatform = (
  db: TestTable,
  send: DynamoDBDocumentClient['send'] = (command: never) => db.client.send(command),
) => ({
  table: { ...db.table, now: () => Date.now() + 30_000 },
  client: { send },
  name: db.name,
  operator: 'eva',
  sleep: async () => {},
})
