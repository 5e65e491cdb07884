import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { freshTable, type TestTable } from './table.ts'

/** A table with the items that `source` has now, as a restore makes it. */
export async function restored(source: TestTable): Promise<TestTable> {
  const target = await freshTable()
  const { Items = [] } = await source.client.send(new ScanCommand({ TableName: source.name }))
  for (const Item of Items) await target.client.send(new PutCommand({ TableName: target.name, Item }))
  return target
}
