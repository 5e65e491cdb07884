/** A series of CloudWatch. */
export type Series = {
  readonly namespace: string
  readonly name: string
  readonly dimensions: Readonly<Record<string, string>>
}

export type RecordedMetrics = {
  /** Records the metrics among lines that a function wrote. */
  readonly write: (text: string) => void
  /** The values of a series from one time, inclusive, to another, in milliseconds since the epoch. */
  readonly values: (series: Series, from: number, to: number) => number[]
}

/** The fields used of a line in CloudWatch's embedded metric format. */
type MetricLine = Readonly<Record<string, unknown>> & {
  readonly _aws: {
    readonly Timestamp: number
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string
      readonly Dimensions: readonly (readonly string[])[]
      readonly Metrics: readonly { readonly Name: string }[]
    }[]
  }
}

/** Older values are dropped: no alarm reads further back. */
const RETENTION_MS = 3 * 60 * 60_000

const keyOf = ({ namespace, name, dimensions }: Series): string =>
  JSON.stringify([namespace, name, Object.entries(dimensions).sort()])

/** Extracts metrics from what functions log, as CloudWatch does. */
export function recordMetrics(): RecordedMetrics {
  const recorded = new Map<string, { at: number; value: number }[]>()

  const record = (series: Series, at: number, value: number): void => {
    const values = recorded.get(keyOf(series)) ?? []
    while (values[0] && values[0].at < at - RETENTION_MS) values.shift()
    values.push({ at, value })
    recorded.set(keyOf(series), values)
  }

  const recordLine = ({ _aws, ...fields }: MetricLine): void => {
    for (const { Namespace: namespace, Dimensions, Metrics } of _aws.CloudWatchMetrics)
      for (const names of Dimensions)
        for (const { Name: name } of Metrics) {
          const dimensions = Object.fromEntries(
            names.map((dimension) => [dimension, String(fields[dimension])]),
          )
          record({ namespace, name, dimensions }, _aws.Timestamp, Number(fields[name]))
        }
  }

  return {
    write: (text) => {
      for (const line of text.split('\n')) if (line.startsWith('{"_aws":')) recordLine(JSON.parse(line))
    },
    values: (series, from, to) =>
      (recorded.get(keyOf(series)) ?? []).filter(({ at }) => at >= from && at < to).map(({ value }) => value),
  }
}
