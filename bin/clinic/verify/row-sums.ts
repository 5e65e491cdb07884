import type { Item } from '../../../shared/store/table/write-requests.ts'
import { type Digest, digestOfText } from './digest.ts'

/** Four bytes for each half of a sum: a million records share 16 to a bucket. */
const BUCKETS = 1 << 16

/**
 * Compares the items that records should have with those that are there, in whatever order both are read, in a fixed amount of
 * memory. Both are summed by the record that they name: items that should be there are added, those that are there are
 * subtracted. What is left of a bucket makes its records suspects, which are then compared one by one.
 */
export class ItemSums {
  readonly #low = new Uint32Array(BUCKETS)
  readonly #high = new Uint32Array(BUCKETS)
  readonly #marked = new Uint8Array(BUCKETS)

  /** Adds an item that the record with this short id should have. */
  expect(short: string, item: Digest): void {
    this.#add(short, item, 1)
  }

  /** Subtracts an item that names the record and is there. */
  find(short: string, item: Digest): void {
    this.#add(short, item, -1)
  }

  /** Makes a record a suspect, whatever is found. */
  mark(short: string): void {
    this.#marked[bucketOf(short)] = 1
  }

  isSuspect(short: string): boolean {
    const bucket = bucketOf(short)
    return this.#marked[bucket] !== 0 || this.#low[bucket] !== 0 || this.#high[bucket] !== 0
  }

  hasSuspects(): boolean {
    return ![this.#marked, this.#low, this.#high].every(isZero)
  }

  #add(short: string, { low, high }: Digest, sign: 1 | -1): void {
    const bucket = bucketOf(short)
    // Typed arrays wrap around, so that the order does not matter.
    this.#low[bucket] = (this.#low[bucket] as number) + sign * low
    this.#high[bucket] = (this.#high[bucket] as number) + sign * high
  }
}

/** A loop without a call for each value: a verification asks it of every list, however short. */
function isZero({ buffer }: Uint32Array | Uint8Array): boolean {
  const words = new Uint32Array(buffer)
  for (let at = 0; at < words.length; at++) if (words[at] !== 0) return false
  return true
}

const bucketOf = (short: string): number => digestOfText(short).low % BUCKETS

/** The short id of the record that a row, or an item of the index of changes, ends with. */
export const shortIdIn = ({ sk }: Pick<Item, 'sk'>): string => sk.slice(sk.lastIndexOf('#') + 1)
