/** Conditions of repairs that no store has need of. */
import type { Key } from '../store/keys.ts'
import type { Item, Table, Write } from '../store/table.ts'

/** Holds a transaction to an item's not being there. */
export function absentWrite(table: Table, key: Key): Write {
  const { ExpressionAttributeValues: _, ...check } = table.checkWrite(key, 0).ConditionCheck ?? {}
  return {
    ConditionCheck: { ...check, ConditionExpression: 'attribute_not_exists(pk)' },
  } as Write
}

/** Holds a transaction to an item's being as it was read: of its version, or not there. */
export const unchangedWrite = (table: Table, key: Key, read: Item | undefined): Write =>
  read ? table.checkWrite(key, read.v as number) : absentWrite(table, key)

/** Makes a put, delete or check conditional on attributes' being as they were read; undefined was not there. */
export function ifRead(write: Write, read: Record<string, unknown>): Write {
  const [action, whole] = Object.entries(write)[0] as [string, Record<string, unknown>]
  const { ExpressionAttributeValues: _, ...parts } = whole
  const names = Object.keys(read)
  const values = names.flatMap((name, at) => (read[name] === undefined ? [] : [[`:${at}`, read[name]]]))
  return {
    [action]: {
      ...parts,
      ConditionExpression: names
        .map((name, at) => (read[name] === undefined ? `attribute_not_exists(#${at})` : `#${at} = :${at}`))
        .join(' AND '),
      ExpressionAttributeNames: Object.fromEntries(names.map((name, at) => [`#${at}`, name])),
      ...(values.length > 0 && { ExpressionAttributeValues: Object.fromEntries(values) }),
    },
  } as Write
}
