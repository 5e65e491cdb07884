import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { inject } from 'vitest'
import type { Item } from '../../shared/store/table/write-requests.ts'
import { testClient } from './dynamodb/test-client.ts'

/** Sends scans. */
export type Scanner = Pick<DynamoDBDocumentClient, 'send'>

let shared: Scanner | undefined

function sharedClient(): Scanner {
  shared ??= testClient(inject('dynamodb'))
  return shared
}

/** Everything that a table holds, in no particular order. `client` is for a table that is not on the engine of the test run. */
export async function allItems(
  { name }: { readonly name: string },
  client: Scanner = sharedClient(),
): Promise<Item[]> {
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

/** Items that have any of the texts anywhere. */
export async function itemsWith(db: { readonly name: string }, ...texts: string[]): Promise<Item[]> {
  const items = await allItems(db)
  return items.filter((item) => texts.some((text) => JSON.stringify(item).includes(text)))
}

/** The names and statuses of a record's events, as they were announced. */
export const announcedEvents = async (db: { readonly name: string }, record: string) =>
  (await allItems(db)).flatMap(({ pk, e, d }) => {
    const { id, status } = (d ?? {}) as { id?: string; status?: string }
    return pk.startsWith('due#event#') && id === record ? [[e, status] as const] : []
  })
