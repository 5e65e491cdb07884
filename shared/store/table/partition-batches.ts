import type { Table } from './table.ts'
import type { Item } from './write-requests.ts'

/**
 * Reads partitions concurrently, in order of their sort keys up to `to`. Each batch has the next items of every partition
 * that has more, at most `size` of each.
 */
export async function* partitionBatches(
  table: Table,
  partitions: readonly string[],
  { to, size }: { readonly to: string; readonly size: number },
): AsyncGenerator<Item[]> {
  let open = partitions.map((pk): { pk: string; from?: string } => ({ pk }))
  while (open.length > 0) {
    const reads = await Promise.all(open.map((range) => table.query({ ...range, to, limit: size })))
    yield reads.flat()
    open = reads.flatMap((items) => {
      const last = items.at(-1)
      // No sort key is another one with a space after it.
      return last && items.length === size ? [{ pk: last.pk, from: `${last.sk} ` }] : []
    })
  }
}
