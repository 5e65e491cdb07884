import { catalogueVersionKey } from './keys/operator.ts'
import type { Changeset } from './table/changeset.ts'
import type { Table } from './table/table.ts'

/** The attribute with the number of records in a partition of the catalogue, which a verification compares. */
export const COUNT = 'c'

/** Adds to the number of records in a partition. The first change of an older clinic counts them. */
export async function addToCount(table: Table, changes: Changeset, pk: string, by: number): Promise<void> {
  if (by === 0) return
  const key = catalogueVersionKey(changes.clinic, pk)
  if ((await table.get(key))?.[COUNT] !== undefined) changes.add(key, COUNT, by)
  else changes.set(key, COUNT, (await table.query({ pk, limit: 10_000, keysOnly: true })).length + by)
}
