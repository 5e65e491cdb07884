/** Load on endpoints: bursts, and requests that arrive at random. */
import { setTimeout as sleep } from 'node:timers/promises'

/** The call number `index` of a load. */
export type LoadCall = (index: number) => Promise<{ readonly status: number }>

export type Outcome = {
  /** Numbers of responses, by status, ascending. */
  readonly statuses: readonly (readonly [status: number, count: number])[]
  /** Milliseconds from the arrival of requests to their responses, without those that were rejected or failed. */
  readonly latencies: Readonly<Record<'p50' | 'p95' | 'p99' | 'slowest', number>>
  readonly seconds: number
}

/** So many requests at the same moment. */
export async function burst(count: number, call: LoadCall): Promise<Outcome> {
  const measured = measurement()
  await Promise.all(Array.from({ length: count }, (_, index) => measured.run(call, index)))
  return measured.outcome()
}

/** Requests that arrive at random, `perSecond` on average, whether or not earlier ones have a response. */
export async function sustained(perSecond: number, seconds: number, call: LoadCall): Promise<Outcome> {
  const measured = measurement()
  const pending: Promise<void>[] = []
  const startedAt = performance.now()
  let arrival = 0
  for (let index = 0; arrival < seconds * 1000; index++) {
    arrival += (-Math.log(1 - Math.random()) * 1000) / perSecond
    const wait = startedAt + arrival - performance.now()
    if (wait > 0) await sleep(wait)
    pending.push(measured.run(call, index))
  }
  await Promise.all(pending)
  return measured.outcome()
}

/** Calls, one a second, until other work ends. */
export async function beside(work: () => Promise<void>, call: LoadCall): Promise<Outcome> {
  const measured = measurement()
  const isDone = work().then(() => true)
  for (let index = 0; !(await Promise.race([isDone, sleep(500, false)])); index++)
    await measured.run(call, index)
  return measured.outcome()
}

function measurement() {
  const statuses = new Map<number, number>()
  const latencies: number[] = []
  const startedAt = performance.now()
  return {
    run: async (call: LoadCall, index: number): Promise<void> => {
      const arrivedAt = performance.now()
      const { status } = await call(index)
      if (status >= 200 && status < 500 && status !== 429) latencies.push(performance.now() - arrivedAt)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    },
    outcome: (): Outcome => {
      const sorted = latencies.toSorted((a, b) => a - b)
      const ofShare = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0)
      return {
        statuses: [...statuses].sort(([a], [b]) => a - b),
        latencies: { p50: ofShare(0.5), p95: ofShare(0.95), p99: ofShare(0.99), slowest: ofShare(1) },
        seconds: (performance.now() - startedAt) / 1000,
      }
    },
  }
}
