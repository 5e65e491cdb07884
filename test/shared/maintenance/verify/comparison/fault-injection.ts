import { isDeepStrictEqual } from 'node:util'
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import type { Key } from '../../../../../shared/store/keys/key.ts'
import type { Item } from '../../../../../shared/store/table/write-requests.ts'
import { allItems } from '../../../../support/all-items.ts'
import type { TestTable } from '../../../../support/table.ts'

/** Writes to the table directly, without the stores. */
export function faultInjection({ client, name, table }: TestTable) {
  const put = (item: Item) => client.send(new PutCommand({ TableName: name, Item: item }))
  const remove = ({ pk, sk }: Key) => client.send(new DeleteCommand({ TableName: name, Key: { pk, sk } }))

  async function read({ pk, sk }: Key): Promise<Item> {
    const item = await table.get({ pk, sk })
    if (!item) throw new Error(`nothing at ${pk} ${sk}`)
    return item
  }

  /** Sets attributes; undefined removes one. */
  async function alter(key: Key, change: (item: Item) => object): Promise<void> {
    const item = await read(key)
    const attributes = Object.entries({ ...item, ...change(item) }).filter(([, value]) => value !== undefined)
    await put(Object.fromEntries(attributes) as Item)
  }

  const scanAll = (): Promise<Item[]> => allItems({ name })

  /** Restores the table to these items. */
  async function restore(items: readonly Item[]): Promise<void> {
    const now = new Map((await scanAll()).map((item) => [keyText(item), item]))
    const kept = new Set(items.map(keyText))
    await table.deleteMany([...now.values()].filter((item) => !kept.has(keyText(item))))
    for (const item of items) if (!isDeepStrictEqual(now.get(keyText(item)), item)) await put(item)
  }

  return { put, remove, read, alter, scanAll, restore }
}

const keyText = ({ pk, sk }: Key): string => `${pk} ${sk}`
