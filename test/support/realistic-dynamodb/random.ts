/** Numbers from 0 up to 1. */
export type RandomSource = () => number

/** A generator that repeats its sequence for the same seed and name (mulberry32). */
export function seededRandom(seed: number, name: string): RandomSource {
  let state = seed | 0
  for (const character of name) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
