import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { inject } from 'vitest'
import type { Item } from '../../shared/store/table/write-requests.ts'
import { testClient } from './dynamodb/test-client.ts'

let client: ReturnType<typeof testClient> | undefined

/** Everything that a table on the engine of the test run holds, in no particular order. */
export async function allItems({ name }: { readonly name: string }): Promise<Item[]> {
  client ??= testClient(inject('dynamodb'))
  const items: Item[] = []
  let start: Record<string, unknown> | undefined
  do {
    const page = await client.send(
      new ScanCommand({ TableName: name, ConsistentRead: true, ExclusiveStartKey: start }),
    )
    items.push(...((page.Items ?? []) as Item[]))
    start = page.LastEvaluatedKey
  } while (start)
  return items
}
