import type { Item } from '../../../store/table/write-requests.ts'

/** A million records share 16 to a bucket. */
const BUCKETS = 1 << 16

/**
 * Compares the items that are there with those that belong to records, in whatever order both are read, by sums of hashes of their
 * keys in a fixed amount of memory. The records of a bucket whose sums differ are suspects: one of the items may belong to no record.
 * Numbers of items would not do: a record that moves while its lists are read could offset an item that belongs to none.
 */
export class KeySums {
  readonly #sums = new Int32Array(BUCKETS)

  /** Adds an item that belongs to the record with this short id, and was there when the record was read. */
  expect(short: string, key: string): void {
    this.#add(short, hashOf(key))
  }

  /** Subtracts an item that names the record and is there. */
  find(short: string, key: string): void {
    this.#add(short, -hashOf(key))
  }

  isSuspect(short: string): boolean {
    return this.#sums[bucketOf(short)] !== 0
  }

  hasSuspects(): boolean {
    return this.#sums.some((sum) => sum !== 0)
  }

  #add(short: string, by: number): void {
    const bucket = bucketOf(short)
    this.#sums[bucket] = (this.#sums[bucket] as number) + by
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 16)
}

const bucketOf = (short: string): number => hashOf(short) & (BUCKETS - 1)

/** The short id of the record that a row, or an item of the index of changes, ends with. */
export const shortIdIn = ({ sk }: Pick<Item, 'sk'>): string => sk.slice(sk.lastIndexOf('#') + 1)
