import type { WriteLog } from './log.ts'

/** Counts one occurrence of a metric. */
export type Count = (name: string, dimension?: Readonly<Record<string, string>>) => void

/** Counts occurrences by log lines in CloudWatch's embedded metric format. */
export const counter =
  (write: WriteLog, now: () => number): Count =>
  (name, dimension = {}) =>
    write({
      _aws: {
        Timestamp: now(),
        CloudWatchMetrics: [
          {
            Namespace: 'ClinicDeveloperApi',
            Dimensions: [Object.keys(dimension)],
            Metrics: [{ Name: name, Unit: 'Count' }],
          },
        ],
      },
      ...dimension,
      [name]: 1,
    })
