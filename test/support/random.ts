/** Numbers from 0 up to 1. */
export type RandomSource = () => number

/** Random numbers, determined by the seed (mulberry32). */
export function mulberry32(seed: number): RandomSource {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A generator that repeats its sequence for the same seed and name. */
export function seededRandom(seed: number, name: string): RandomSource {
  let state = seed | 0
  for (const character of name) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return mulberry32(state)
}

/** A seeded generator, so that data is the same on every machine and in every run. */
export function seeded(seed: number) {
  const next = mulberry32(seed)
  /** A whole number from `low` to `high`, both included. */
  const integer = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1))
  const pick = <const T>(items: readonly [T, ...T[]]): T => items[integer(0, items.length - 1)] ?? items[0]
  return { integer, pick, chance: (share: number): boolean => next() < share }
}

export type SeededRandom = ReturnType<typeof seeded>
