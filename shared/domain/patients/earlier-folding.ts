/** The folding of search lines until version 1.1.0. They are found by it until `migrate` has rewritten them (FOLDED in search-text.ts). */
import type { Needles } from './search-text.ts'

const LETTERS = new Map(Object.entries({ ł: 'l', ø: 'o', ß: 'ss', ı: 'i', đ: 'd', æ: 'ae', œ: 'oe', ς: 'σ' }))

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[łøßıđæœς]/g, (letter) => LETTERS.get(letter) ?? letter)

/** The needles of a query that find earlier lines. Digits of numbers are the same in both. */
export function earlierNeedles(query: string, needles: Needles): Needles {
  if (needles.kind === 'phone') return needles
  const words = fold(query)
    .split(/\s/)
    .filter((word) => word !== '')
  return words.length === 0 ? needles : { kind: 'words', words: [...new Set(words)] }
}
