/** A small seeded generator (mulberry32): demo data is the same on every machine and in every run. */
export function seeded(seed: number) {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  /** A whole number from `low` to `high`, both included. */
  const integer = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1))
  const pick = <const T>(items: readonly [T, ...T[]]): T => items[integer(0, items.length - 1)] ?? items[0]
  return { integer, pick, chance: (share: number): boolean => next() < share }
}

export type Random = ReturnType<typeof seeded>
