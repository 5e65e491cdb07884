import type { Key } from '../keys/key.ts'

/** A counter with its overflow items, each with the mark by which it is found for folding. */
export type SpreadCounter = {
  readonly key: Key
  readonly overflow: (index: number) => { readonly key: Key; readonly mark: Key }
}

/** Overflow items of one counter. */
export const OVERFLOW_ITEMS = 8
