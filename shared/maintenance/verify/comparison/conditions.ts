/** Conditions that only repairs need. */
import type { Key } from '../../../store/keys/key.ts'
import type { Table } from '../../../store/table/table.ts'
import type { Item, Write } from '../../../store/table/write-requests.ts'

/** Requires an item to be as it was read: of the same version, or absent. */
export const requireUnchanged = (table: Table, key: Key, read: Item | undefined): Write =>
  requireUnchangedAttributes(table, key, read ? { v: read.v } : { pk: undefined })

/** Requires attributes of an item that the transaction does not write to be as they were read. */
export function requireUnchangedAttributes(table: Table, key: Key, read: Record<string, unknown>): Write {
  const { ExpressionAttributeValues: _, ...check } = table.checkWrite(key, 0).ConditionCheck ?? {}
  return ifUnchanged({ ConditionCheck: check } as Write, read)
}

/** Adds to a write without a condition that attributes be as they were read; undefined means absent. */
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
