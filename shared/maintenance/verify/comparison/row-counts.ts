import type { Item } from '../../../store/table/write-requests.ts'

/** A million records share 16 to a bucket. */
const BUCKETS = 1 << 16

/**
 * Compares the number of items that are there with the number of those that belong to records, in whatever order both are read, in
 * a fixed amount of memory. The records of a bucket whose numbers differ are suspects: one of the items may belong to no record.
 */
export class RowCounts {
  readonly #counts = new Int32Array(BUCKETS)

  /** Counts an item that belongs to the record with this short id, and was there when the record was read. */
  expect(short: string): void {
    this.#add(short, 1)
  }

  /** Counts an item that names the record and is there. */
  find(short: string): void {
    this.#add(short, -1)
  }

  isSuspect(short: string): boolean {
    return this.#counts[bucketOf(short)] !== 0
  }

  hasSuspects(): boolean {
    return this.#counts.some((count) => count !== 0)
  }

  #add(short: string, by: 1 | -1): void {
    const bucket = bucketOf(short)
    this.#counts[bucket] = (this.#counts[bucket] as number) + by
  }
}

/** FNV-1a of the short id. */
function bucketOf(short: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < short.length; at++) hash = Math.imul(hash ^ short.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 16)) & (BUCKETS - 1)
}

/** The short id of the record that a row, or an item of the index of changes, ends with. */
export const shortIdIn = ({ sk }: Pick<Item, 'sk'>): string => sk.slice(sk.lastIndexOf('#') + 1)
