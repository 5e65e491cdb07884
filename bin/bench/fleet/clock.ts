import { minHeap } from './min-heap.ts'

/** A simulated clock in whole milliseconds. What is due at the same time runs in the order in which it was scheduled. */
export type Clock = ReturnType<typeof simulatedClock>

export function simulatedClock(start: number) {
  let time = start
  const scheduled = new Map<number, (() => void)[]>()
  const times = minHeap()

  function at(when: number, work: () => void): void {
    const due = Math.max(time, Math.round(when))
    const others = scheduled.get(due)
    if (others) others.push(work)
    else {
      scheduled.set(due, [work])
      times.push(due)
    }
  }

  const sleep = (ms: number): Promise<void> => new Promise((resolve) => at(time + ms, resolve))

  /** Runs what is scheduled until then, with everything that follows from it. */
  async function runUntil(end: number): Promise<void> {
    for (let next = times.peek(); next !== undefined && next <= end; next = times.peek()) {
      times.pop()
      time = next
      const due = scheduled.get(next) ?? []
      scheduled.delete(next)
      for (const work of due) work()
      // Immediates run after all microtasks, so everything that follows from this moment is scheduled by then.
      await new Promise((resolve) => setImmediate(resolve))
    }
    time = end
  }

  return { now: () => time, at, sleep, runUntil }
}
