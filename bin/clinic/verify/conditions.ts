/** Conditions of repairs that no store has need of. */
import type { Key } from '../../../shared/store/keys/key.ts'
import type { Item, Table, Write } from '../../../shared/store/table/table.ts'

/** Holds a transaction to an item's being as it was read: of its version, or not there. */
export const requireUnchanged = (table: Table, key: Key, read: Item | undefined): Write =>
  requireUnchangedAttributes(table, key, read ? { v: read.v } : { pk: undefined })

/** Holds a transaction to attributes of an item that it leaves alone. */
export function requireUnchangedAttributes(table: Table, key: Key, read: Record<string, unknown>): Write {
  const { ExpressionAttributeValues: _, ...check } = table.checkWrite(key, 0).ConditionCheck ?? {}
  return ifUnchanged({ ConditionCheck: check } as Write, read)
}

/** Makes a write that has no condition of its own depend on attributes' being as they were read; undefined was not there. */
export function ifUnchanged(write: Write, read: Record<string, unknown>): Write {
  const [action, parts] = Object.entries(write)[0] as [string, { ExpressionAttributeValues?: object }]
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
