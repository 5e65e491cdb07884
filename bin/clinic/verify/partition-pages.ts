import type { Item, Table } from '../../../shared/store/table/table.ts'

/** Items held at once of one partition. */
const PAGE_SIZE = 200

/** Sort keys, inclusive. */
export type Bounds = { readonly from?: string; readonly to?: string }

/** A partition in order, a page at a time, each read strongly. What is written behind the reader is not seen. */
export async function* partitionPages(
  table: Table,
  pk: string,
  { from, to }: Bounds = {},
): AsyncGenerator<Item[]> {
  let last: string | undefined
  for (;;) {
    // A range begins with its first key, so that the last one read comes again, if it is still there.
    const limit = last === undefined ? PAGE_SIZE : PAGE_SIZE + 1
    const read = await table.query({ pk, from: last ?? from, to, limit })
    const items = last !== undefined && read[0]?.sk === last ? read.slice(1) : read
    if (items.length > 0) yield items
    if (read.length < limit) return
    last = read.at(-1)?.sk
  }
}
