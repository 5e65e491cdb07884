/** Reads of one state of some items, and writes on the condition that it is still the same. */
import { isDeepStrictEqual } from 'node:util'
import { type Key, keyText } from '../../../store/keys/key.ts'
import type { Table } from '../../../store/table/table.ts'
import type { Item, UpdateParts, Write } from '../../../store/table/write-requests.ts'

export type Snapshot = ReturnType<typeof snapshotOf>

export function snapshotOf(table: Table) {
  const seen = new Map<string, { readonly key: Key; readonly item: Item | undefined }>()

  /** The items that exist, in no particular order. */
  async function getMany(keys: readonly Key[]): Promise<Item[]> {
    const wanted = new Map(keys.map(({ pk, sk }) => [keyText({ pk, sk }), { pk, sk }]))
    const items = await table.getMany([...wanted.values()])
    const found = new Map(items.map((item) => [keyText(item), item]))
    for (const [text, key] of wanted) seen.set(text, { key, item: found.get(text) })
    return items
  }

  const get = async (key: Key): Promise<Item | undefined> => (await getMany([key]))[0]

  /** Whether all items that were read are still as they were. */
  async function isCurrent(): Promise<boolean> {
    const items = await table.getMany([...seen.values()].map(({ key }) => key))
    const now = new Map(items.map((item) => [keyText(item), item]))
    return [...seen].every(([text, { item }]) => isDeepStrictEqual(item, now.get(text)))
  }

  /** Commits writes on the condition that all items that were read are still as they were. */
  async function write(writes: readonly Write[]): Promise<void> {
    const conditions = new Map([...seen].map(([text, { item }]) => [text, conditionOf(item)]))
    const conditional = writes.map((one) => {
      const text = keyText(keyOf(one))
      const condition = conditions.get(text)
      conditions.delete(text)
      return condition ? ifUnchanged(one, condition) : one
    })
    const checks = [...conditions].map(([text, condition]) => {
      const { key } = seen.get(text) as { key: Key }
      // The table's name and the key, without its condition.
      const { TableName, Key } = table.checkWrite(key, null).ConditionCheck
      return ifUnchanged({ ConditionCheck: { TableName, Key, ConditionExpression: undefined } }, condition)
    })
    await table.transact([...conditional, ...checks])
  }

  return { get, getMany, isCurrent, write }
}

const keyOf = ({ Put, Delete, Update }: Write): Key => (Put?.Item ?? Delete?.Key ?? Update?.Key) as Key

/** The attributes that tell whether an item has changed: its version, or all of them. None is those of a missing item. */
function conditionOf(item: Item | undefined): Record<string, unknown> {
  if (!item) return { pk: undefined }
  return item.v === undefined ? item : { v: item.v }
}

/** Adds to a write that attributes be as they were read; undefined means absent. A write keeps the condition that it has. */
export function ifUnchanged(write: Write, read: Record<string, unknown>): Write {
  const [action, parts] = Object.entries(write)[0] as [string, UpdateParts]
  if (parts.ConditionExpression !== undefined) return write
  const names = Object.entries(read).map(([name, value], at) => ({ name, value, at }))
  const values = {
    ...parts.ExpressionAttributeValues,
    ...Object.fromEntries(
      names.flatMap(({ value, at }) => (value === undefined ? [] : [[`:read${at}`, value]])),
    ),
  }
  return {
    [action]: {
      ...parts,
      ConditionExpression: names
        .map(({ value, at }) =>
          value === undefined ? `attribute_not_exists(#r${at})` : `#r${at} = :read${at}`,
        )
        .join(' AND '),
      ExpressionAttributeNames: Object.fromEntries(names.map(({ name, at }) => [`#r${at}`, name])),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    },
  } as Write
}
