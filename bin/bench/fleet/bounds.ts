/** What must hold for the innocent endpoints of a cell, whatever the others do. */
import type { Simulation } from './simulate.ts'

const MAX_FIRST_ATTEMPT_P99_MS = 5_000
const MAX_RETRY_P99_MS = 10_000

/** A queue is bounded if it is not longer in the last third of the time in which receivers hang than in the third before. */
const GROWTH = 1.1
const NEGLIGIBLE_LENGTH = 100

/** The bounds that a simulation exceeds, as text. */
export function brokenBounds({ scenario, observed }: Simulation): string[] {
  const { firstAttempts, retries, counts, gauges } = observed
  const broken: string[] = []
  if (firstAttempts.distribution().p99 > MAX_FIRST_ATTEMPT_P99_MS) broken.push('first attempts')
  const lateRetries = [...retries].filter(([, late]) => late.distribution().p99 > MAX_RETRY_P99_MS)
  if (lateRetries.length > 0) broken.push('retries')
  const grows = (gauge: (typeof gauges)[keyof typeof gauges]): boolean => {
    const [from, to] = [scenario.healthyMs / 1000, (scenario.healthyMs + scenario.hangingMs) / 1000]
    const third = (to - from) / 3
    const [before, last] = [gauge.mean(to - 2 * third, to - third), gauge.mean(to - third, to)]
    return last > GROWTH * before + NEGLIGIBLE_LENGTH
  }
  if (grows(gauges.quickVisible)) broken.push('quick queue')
  if (grows(gauges.slowVisible)) broken.push('slow queue')
  if (grows(gauges.dueItems)) broken.push('due deliveries')
  if (counts.disordered > 0) broken.push('order of first attempts')
  return broken
}
