/** What a simulation measures. Times are milliseconds. */

export type Distribution = {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Durations, of which the distribution is asked for at the end. */
export function durations() {
  const values: number[] = []
  return {
    add: (value: number): void => void values.push(value),
    distribution: (): Distribution => {
      const sorted = Float64Array.from(values).sort()
      const at = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
      return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
    },
  }
}

/** A value over time, of which the mean, the maximum and single samples are reported. */
export function gauge() {
  const values: number[] = []
  const mean = (from = 0, to = values.length): number => {
    const part = values.slice(from, to)
    return part.length === 0 ? 0 : part.reduce((sum, value) => sum + value, 0) / part.length
  }
  return {
    sample: (value: number): void => void values.push(value),
    mean,
    max: (): number => values.reduce((max, value) => Math.max(max, value), 0),
    /** The sample with this number; the last one if there are fewer. */
    at: (number: number): number => values[Math.min(number, values.length - 1)] ?? 0,
  }
}
