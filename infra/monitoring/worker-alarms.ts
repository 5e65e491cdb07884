import { WORKERS } from '../../shared/runtime/workers.ts'
import type { AlarmDefinition, Severity } from './alarm.ts'

/** An outdated copy of a name is next to the id of its patient. */
const sweepSeverity = (worker: string): Severity =>
  worker === 'refresh-copies' ? 'look-tomorrow' : 'patients-affected'

const heartbeats: AlarmDefinition[] = WORKERS.flatMap(({ id, trigger }) => {
  if (trigger.type !== 'schedule') return []
  const { parts = 1 }: { parts?: number } = trigger
  return {
    id: `${id}-stopped`,
    severity: sweepSeverity(id),
    why: `The sweep ${id} has not run every minute for ten minutes.`,
    page: 'sweeps',
    figure: { of: 'service', metric: 'sweep_lag_ms', statistic: 'SampleCount', dimensions: { sweep: id } },
    // Each part records its lag once a minute, but none if it fails to read.
    below: 4 * parts,
    minutes: 5,
    periods: 2,
    breaches: 2,
    missingIsBreach: true,
  } satisfies AlarmDefinition
})

const workerErrors: AlarmDefinition[] = (
  [
    ['messaging', 'patients-affected', 'Workers that send messages or record their feedback fail.'],
    ['events', 'patients-affected', 'Workers that deliver events to webhooks fail.'],
    ['maintenance', 'look-tomorrow', 'Workers that refresh copied names or run maintenance fail.'],
  ] as const
).map(([part, severity, why]) => ({
  id: `${part}-errors`,
  severity,
  why,
  page: 'function-errors',
  figure: { of: 'part', part, metric: 'Errors' },
  above: 2,
  minutes: 5,
  periods: 3,
  breaches: 2,
}))

/** The alarms on a part whose workers cannot run at all, for example after a deployment. */
const workersFailing: AlarmDefinition[] = (['messaging', 'events'] as const).map((part) => ({
  id: `${part}-failing`,
  severity: 'patients-affected',
  why: `Workers of the part ${part} fail at least five times a minute, in two of three minutes.`,
  page: 'function-errors',
  figure: { of: 'part', part, metric: 'Errors' },
  above: 4,
  minutes: 1,
  periods: 3,
  breaches: 2,
}))

/** The alarms on workers: their failures, their heartbeats, and how late they are. */
export const WORKER_ALARMS: readonly AlarmDefinition[] = [
  ...workerErrors,
  ...workersFailing,
  ...heartbeats,
  {
    id: 'sweep-lag',
    severity: 'patients-affected',
    why: 'A sweep processes items more than ten minutes after they were due.',
    page: 'sweeps',
    figure: { of: 'service', metric: 'sweep_lag_ms', statistic: 'Maximum' },
    above: 600_000,
    minutes: 5,
    periods: 3,
    breaches: 3,
  },
  {
    id: 'stream-age',
    severity: 'look-tomorrow',
    why: 'The fan-out is more than five minutes behind the table’s stream. The sweep of events takes over.',
    page: 'stream-age',
    figure: { of: 'worker', worker: 'fan-out-events', metric: 'IteratorAge' },
    above: 300_000,
    minutes: 5,
    periods: 2,
    breaches: 2,
  },
]
