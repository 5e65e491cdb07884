import type { Key } from '../keys/key.ts'

/** How long a counter stays spread after its last collision. */
const SPREAD_MS = 10_000

/** Remembers which counters collided lately, so that the next writes of this process spread over their overflow items. */
export function contentionMemory(now: () => number) {
  const until = new Map<string, number>()
  const name = ({ pk, sk }: Key) => `${pk} ${sk}`
  return {
    isContended: (key: Key): boolean => {
      const end = until.get(name(key)) ?? 0
      if (end <= now()) until.delete(name(key))
      return end > now()
    },
    recordConflict: (key: Key): void => {
      until.set(name(key), now() + SPREAD_MS)
    },
  }
}
