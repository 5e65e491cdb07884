import { isDeepStrictEqual } from 'node:util'
import type { Key } from '../../store/keys/key.ts'
import type { Table } from '../../store/table/table.ts'
import type { Item } from '../../store/table/write-requests.ts'
import { partitionPages } from '../walk/partition-pages.ts'

/** The table that was in use until the restore, and the restored one. Nothing else may write to either of them. */
export type Restore = { readonly source: Table; readonly restored: Table }

/**
 * Makes a partition of the restored table equal to the source's. `isMirrored` selects the items, if not all of them.
 * Returns the number of items that differed.
 */
export async function mirrorPartition(
  { source, restored }: Restore,
  pk: string,
  isMirrored: (key: Key) => boolean = () => true,
): Promise<number> {
  let differences = 0
  for await (const page of partitionPages(source, pk)) {
    const items = page.filter(isMirrored)
    const existing = await bySortKey(restored, items)
    const changed = items.filter((item) => !isDeepStrictEqual(item, existing.get(item.sk)))
    await restored.putMany(changed)
    differences += changed.length
  }
  for await (const page of partitionPages(restored, pk)) {
    const items = page.filter(isMirrored)
    const existing = await bySortKey(source, items)
    const extra = items.filter(({ sk }) => !existing.has(sk))
    await restored.deleteMany(extra)
    differences += extra.length
  }
  return differences
}

/** The items of a table with the keys of these. */
export const bySortKey = async (table: Table, keys: readonly Key[]): Promise<Map<string, Item>> =>
  new Map((await table.getMany(keys)).map((item) => [item.sk, item]))
