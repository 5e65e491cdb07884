import type { WriteLog } from '../http/log.ts'

/** Counts one occurrence, as a log line that CloudWatch reads as a metric. */
export function countMetric(
  write: WriteLog,
  now: number,
  name: string,
  dimension: Record<string, string>,
): void {
  write({
    _aws: {
      Timestamp: now,
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
}
