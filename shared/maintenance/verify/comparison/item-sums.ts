import type { Item } from '../../../store/table/write-requests.ts'

/** A million records share 16 to a bucket. */
const BUCKETS = 1 << 16

/**
 * Compares the items that are there with those that belong to records, in whatever order both are read, by sums of hashes of the
 * items in a fixed amount of memory. The records of a bucket whose sums differ are suspects.
 */
export class ItemSums {
  readonly #sums = new Int32Array(BUCKETS)

  /** Adds an item that belongs to the record with this short id. */
  expect(short: string, item: Item): void {
    this.#add(short, hashOf(item))
  }

  /** Subtracts an item that names the record and is there. */
  find(short: string, item: Item): void {
    this.#add(short, -hashOf(item))
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

const OFFSET = 0x811c9dc5

/** FNV-1a. */
function hashText(text: string, seed: number): number {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 16)
}

/** The order of attributes does not count: the table does not keep it. */
export function hashOf(value: unknown, seed = OFFSET): number {
  if (typeof value === 'string') return hashText(value, seed ^ 1)
  if (typeof value !== 'object' || value === null) return hashText(String(value), seed ^ 2)
  if (Array.isArray(value)) return value.reduce((hash: number, one) => hashOf(one, hash), seed ^ 3)
  let sum = seed ^ 4
  for (const name in value) sum = (sum + hashOf((value as Item)[name], hashText(name, OFFSET))) | 0
  return Math.imul(sum, 0x9e3779b1)
}

const bucketOf = (short: string): number => hashText(short, OFFSET) & (BUCKETS - 1)
