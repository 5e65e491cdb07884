import { errorOrigin, type WriteLog } from './log.ts'

/** The namespace of all metrics of the service. */
export const NAMESPACE = 'ClinicDeveloperApi'

type Dimension = Readonly<Record<string, string>>

/** Counts one occurrence of a metric. With `cause`, the line is also one of an error, and has where it was thrown. */
export type Count = (name: string, dimension?: Dimension, cause?: unknown) => void

/** Records a value of a metric in milliseconds. */
export type RecordMs = (name: string, ms: number, dimension?: Dimension) => void

type Source = {
  readonly write: WriteLog
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Stages of one account share the namespace, so each metric has its stage as a dimension. */
  readonly stage: string
}

/** Counts occurrences by log lines in CloudWatch's embedded metric format. */
export const counter =
  (source: Source): Count =>
  (name, dimension = {}, cause = undefined) =>
    source.write({
      ...metricLine(source, { name, unit: 'Count', value: 1, dimension }),
      ...(cause !== undefined && {
        timestamp: new Date(source.now()).toISOString(),
        level: 'error',
        error: name,
        origin: errorOrigin(cause),
      }),
    })

/** Records durations in the same way. */
export const durationRecorder =
  (source: Source): RecordMs =>
  (name, ms, dimension = {}) =>
    source.write(metricLine(source, { name, unit: 'Milliseconds', value: ms, dimension }))

type Metric = {
  readonly name: string
  readonly unit: 'Count' | 'Milliseconds'
  readonly value: number
  readonly dimension: Dimension
}

/** A metric with a further dimension is recorded by stage, too: CloudWatch does not add up the series of a dimension. */
const metricLine = ({ now, stage }: Source, { name, unit, value, dimension }: Metric) => ({
  _aws: {
    Timestamp: now(),
    CloudWatchMetrics: [
      {
        Namespace: NAMESPACE,
        Dimensions: [
          ['stage'],
          ...(Object.keys(dimension).length > 0 ? [['stage', ...Object.keys(dimension)]] : []),
        ],
        Metrics: [{ Name: name, Unit: unit }],
      },
    ],
  },
  stage,
  ...dimension,
  [name]: value,
})
