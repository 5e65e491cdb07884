import type { WriteLog } from './log.ts'

type Dimension = Readonly<Record<string, string>>

/** Counts one occurrence of a metric. */
export type Count = (name: string, dimension?: Dimension) => void

/** Records a value of a metric in milliseconds. */
export type RecordMs = (name: string, ms: number, dimension?: Dimension) => void

/** Counts occurrences by log lines in CloudWatch's embedded metric format. */
export const counter =
  (write: WriteLog, now: () => number): Count =>
  (name, dimension = {}) =>
    write(metricLine(now(), { name, unit: 'Count', value: 1, dimension }))

/** Records durations in the same way. */
export const durationRecorder =
  (write: WriteLog, now: () => number): RecordMs =>
  (name, ms, dimension = {}) =>
    write(metricLine(now(), { name, unit: 'Milliseconds', value: ms, dimension }))

type Metric = {
  readonly name: string
  readonly unit: 'Count' | 'Milliseconds'
  readonly value: number
  readonly dimension: Dimension
}

const metricLine = (timestamp: number, { name, unit, value, dimension }: Metric) => ({
  _aws: {
    Timestamp: timestamp,
    CloudWatchMetrics: [
      {
        Namespace: 'ClinicDeveloperApi',
        Dimensions: [Object.keys(dimension)],
        Metrics: [{ Name: name, Unit: unit }],
      },
    ],
  },
  ...dimension,
  [name]: value,
})
