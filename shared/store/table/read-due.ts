import { dueUntil } from '../keys/due.ts'
import type { Key } from '../keys/key.ts'
import type { Table } from './table.ts'

/**
 * What is due by `until` in partitions, which are read concurrently. Each batch has the next items of every partition that has more,
 * at most `size` of each, earliest first.
 */
export async function* readDue<Due extends { readonly at: number }>(
  table: Table,
  partitions: readonly string[],
  parse: (key: Key) => Due,
  { until, size }: { readonly until: number; readonly size: number },
): AsyncGenerator<Due[]> {
  const to = dueUntil(until)
  let open = partitions.map((pk): { pk: string; from?: string } => ({ pk }))
  while (open.length > 0) {
    const reads = await Promise.all(open.map((range) => table.query({ ...range, to, limit: size })))
    yield reads
      .flat()
      .map(parse)
      .sort((a, b) => a.at - b.at)
    open = reads.flatMap((items) => {
      const last = items.at(-1)
      // No sort key is another one with a space after it.
      return last && items.length === size ? [{ pk: last.pk, from: `${last.sk} ` }] : []
    })
  }
}
