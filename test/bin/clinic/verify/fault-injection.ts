import { isDeepStrictEqual } from 'node:util'
import { DeleteCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { expect } from 'vitest'
import type { FaultKind } from '../../../../bin/clinic/verify/fault.ts'
import type { Key } from '../../../../shared/store/keys/key.ts'
import type { Item } from '../../../../shared/store/table/table.ts'
import type { TestTable } from '../../../support/table.ts'
import { runVerification } from './practice.ts'

/** What is done to a sound clinic, and what a verification is to say of it. */
export type InjectedFault = [name: string, plant: () => Promise<unknown>, kinds: FaultKind[]]

/** Writes past every store. */
export function faultInjection({ client, name, table }: TestTable) {
  const put = (item: Item) => client.send(new PutCommand({ TableName: name, Item: item }))
  const remove = ({ pk, sk }: Key) => client.send(new DeleteCommand({ TableName: name, Key: { pk, sk } }))

  async function read({ pk, sk }: Key): Promise<Item> {
    const item = await table.get({ pk, sk })
    if (!item) throw new Error(`nothing at ${pk} ${sk}`)
    return item
  }

  /** Sets attributes; undefined takes one away. */
  async function alter(key: Key, change: (item: Item) => object): Promise<void> {
    const item = await read(key)
    const attributes = Object.entries({ ...item, ...change(item) }).filter(([, value]) => value !== undefined)
    await put(Object.fromEntries(attributes) as Item)
  }

  async function scanAll(): Promise<Item[]> {
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

  /** Makes the table what it was. */
  async function restore(items: readonly Item[]): Promise<void> {
    const now = new Map((await scanAll()).map((item) => [keyText(item), item]))
    const kept = new Set(items.map(keyText))
    await table.deleteMany([...now.values()].filter((item) => !kept.has(keyText(item))))
    for (const item of items) if (!isDeepStrictEqual(now.get(keyText(item)), item)) await put(item)
  }

  return { put, remove, read, alter, scanAll, restore }
}

const keyText = ({ pk, sk }: Key): string => `${pk} ${sk}`

/** A verification tells exactly these differences; a repair mends them all. */
export async function expectRepaired(
  { table }: TestTable,
  { clinic }: { clinic: Parameters<typeof runVerification>[1] },
  kinds: readonly FaultKind[],
): Promise<void> {
  expect((await runVerification(table, clinic)).kinds).toEqual(kinds)
  const result = await runVerification(table, clinic, true)
  expect(result.kinds).toEqual(kinds)
  expect(result.repaired).toBe(kinds.length)
}
