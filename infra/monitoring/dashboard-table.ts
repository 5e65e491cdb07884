import { type QueueId, WORKERS } from '../../shared/runtime/workers.ts'
import type { Figure } from './figures.ts'

/** A graph of the dashboard, as data. */
export type Graph = {
  readonly title: string
  readonly lines: readonly { readonly label: string; readonly figure: Figure }[]
  /** Adds the lines up. */
  readonly stacked?: boolean
  readonly minutes?: number
}

const ages: readonly (readonly [QueueId, string])[] = [
  ['emails', 'emails'],
  ['feedback', 'feedback'],
  ['deliveries', 'deliveries'],
  ['slow-deliveries', 'slow deliveries'],
]

const dead: readonly (readonly [QueueId, string])[] = [
  ['emails-dead', 'emails'],
  ['feedback-dead', 'feedback'],
  ['deliveries-dead', 'deliveries'],
  ['slow-deliveries-dead', 'slow deliveries'],
  ['maintenance-dead', 'maintenance'],
  ['failed-fan-outs', 'failed fan-outs'],
]

const STATUSES = ['queued', 'sent', 'delivered', 'failed']

const service = (
  metric: string,
  statistic: 'Sum' | 'Maximum' | 'SampleCount' | 'p99',
  dimensions?: Readonly<Record<string, string>>,
): Figure => ({ of: 'service', metric, statistic, ...(dimensions && { dimensions }) })

/** THE GRAPHS, in rows of three. */
export const GRAPHS: readonly Graph[] = [
  {
    title: 'Requests',
    lines: [
      { label: 'all', figure: { of: 'api', metric: 'Count', statistic: 'Sum' } },
      { label: '4xx', figure: { of: 'api', metric: '4XXError', statistic: 'Sum' } },
      { label: '5xx', figure: { of: 'api', metric: '5XXError', statistic: 'Sum' } },
    ],
  },
  {
    title: 'Latency (ms)',
    lines: [
      { label: 'p50', figure: { of: 'api', metric: 'Latency', statistic: 'p50' } },
      { label: 'p99', figure: { of: 'api', metric: 'Latency', statistic: 'p99' } },
    ],
  },
  {
    title: 'Cold starts',
    lines: [
      { label: 'number', figure: service('cold_start_ms', 'SampleCount') },
      { label: 'p99 (ms)', figure: service('cold_start_ms', 'p99') },
    ],
  },
  {
    title: 'Age of the oldest message (s)',
    lines: ages.map(([queue, label]) => ({
      label,
      figure: { of: 'queue', queue, metric: 'ApproximateAgeOfOldestMessage' },
    })),
  },
  {
    title: 'Dead letters',
    lines: dead.map(([queue, label]) => ({
      label,
      figure: { of: 'queue', queue, metric: 'ApproximateNumberOfMessagesVisible' },
    })),
  },
  {
    title: 'Sweeps: lag (ms)',
    lines: WORKERS.filter(({ trigger }) => trigger.type === 'schedule').map(({ id }) => ({
      label: id,
      figure: service('sweep_lag_ms', 'Maximum', { sweep: id }),
    })),
  },
  {
    title: 'Deliveries by outcome',
    stacked: true,
    lines: ['delivered', 'rejected', 'unreachable'].map((outcome) => ({
      label: outcome,
      figure: service('delivery_attempt', 'Sum', { outcome }),
    })),
  },
  {
    title: 'Messages by status',
    stacked: true,
    lines: ['sms', 'email'].flatMap((channel) =>
      STATUSES.map((status) => ({
        label: `${channel} ${status}`,
        figure: service('message_status', 'Sum', { channel, status }),
      })),
    ),
  },
  {
    title: 'Errors of workers',
    stacked: true,
    lines: (['messaging', 'events', 'maintenance'] as const).map((part) => ({
      label: part,
      figure: { of: 'part', part, metric: 'Errors' },
    })),
  },
  {
    title: 'Consumed capacity (units)',
    lines: [
      { label: 'reads', figure: { of: 'table', metrics: ['ConsumedReadCapacityUnits'] } },
      { label: 'writes', figure: { of: 'table', metrics: ['ConsumedWriteCapacityUnits'] } },
    ],
  },
  {
    title: 'Throttling and conflicts of the table',
    lines: [
      { label: 'throttled', figure: { of: 'table', metrics: ['ReadThrottleEvents', 'WriteThrottleEvents'] } },
      { label: 'conflicts', figure: { of: 'table', metrics: ['TransactionConflict'] } },
    ],
  },
  {
    title: 'Left to sweeps and operators',
    lines: ['message_unresolved', 'sms_not_noted', 'email_queued_again', 'list_drift'].map((metric) => ({
      label: metric,
      figure: service(metric, 'Sum'),
    })),
  },
]
