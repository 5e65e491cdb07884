import type { Table } from '../../store/table/table.ts'
import type { Item } from '../../store/table/write-requests.ts'

/** Items per page. */
const PAGE_SIZE = 200

/** A range of sort keys, both ends included. */
export type Bounds = { readonly from?: string; readonly to?: string }

/** The items of a partition in order, in pages of strongly consistent reads. Items written before the current position are missed. */
export async function* partitionPages(
  table: Table,
  pk: string,
  { from, to, keysOnly }: Bounds & { readonly keysOnly?: boolean } = {},
): AsyncGenerator<Item[]> {
  let last: string | undefined
  for (;;) {
    // A range includes its first key, so the last item is read again if it still exists.
    const limit = last === undefined ? PAGE_SIZE : PAGE_SIZE + 1
    const read = await table.query({ pk, from: last ?? from, to, limit, ...(keysOnly && { keysOnly }) })
    const items = last !== undefined && read[0]?.sk === last ? read.slice(1) : read
    if (items.length > 0) yield items
    if (read.length < limit) return
    last = read.at(-1)?.sk
  }
}
