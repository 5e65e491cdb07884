import type { Timing } from '../../shared/store/table/retries.ts'

/** A clock that only sleeping moves, so that retries take no time; `random` is 0.5 unless given. */
export function virtualTiming(random: () => number = () => 0.5): Timing {
  let now = 0
  return {
    now: () => now,
    sleep: async (ms) => {
      now += ms
    },
    random,
  }
}
