import type { Alarm, AlarmMetric } from './alarms.ts'
import { calculate, STATISTICS } from './calculations.ts'
import type { QueueFigures } from './queue-figures.ts'
import type { RecordedMetrics } from './recorded-metrics.ts'

/** `NOT_PLAYED`: the alarm watches a metric that only AWS has. */
export type AlarmState = {
  readonly name: string
  readonly state: 'OK' | 'ALARM' | 'NOT_PLAYED'
  /** The figure in the latest period; null if there is none. */
  readonly figure: number | null
  readonly threshold: number
  readonly description: string
}

type Sources = {
  readonly metrics: RecordedMetrics
  readonly queues: QueueFigures
  /** When the stack was started. Earlier periods are not evaluated. */
  readonly startedAt: number
  readonly now: number
}

/** The state that CloudWatch would give each alarm. Periods end now, not at full minutes. */
export function alarmStates(alarms: readonly Alarm[], sources: Sources): AlarmState[] {
  return alarms.map((alarm) => {
    const { name, threshold, description } = alarm
    if (!alarm.metrics.every(isPlayed))
      return { name, state: 'NOT_PLAYED', figure: null, threshold, description }
    const values = Array.from({ length: alarm.periods }, (_, age) => figureOf(alarm, sources, age))
    const isOver = (value: number | null, age: number): boolean => {
      if (value !== null) return alarm.isOver(value)
      return alarm.missingIsBreach && sources.now - (age + 1) * alarm.periodMs >= sources.startedAt
    }
    const isOn = values.filter(isOver).length >= alarm.breaches
    return { name, state: isOn ? 'ALARM' : 'OK', figure: values[0] ?? null, threshold, description }
  })
}

/** Metrics of the service, and those of queues. */
const isPlayed = ({ namespace }: AlarmMetric): boolean =>
  namespace === 'AWS/SQS' || !namespace.startsWith('AWS/')

/** The figure of an alarm in a period; `age` 0 is the latest. Null without a value. */
function figureOf({ metrics, expression, periodMs }: Alarm, sources: Sources, age: number): number | null {
  const values = metrics.map((metric) => statisticOf(metric, periodMs, sources, age))
  if (expression === undefined) return values[0] ?? null
  const named = Object.fromEntries(metrics.map(({ id }, at) => [id, values[at] ?? null]))
  return calculate(expression, named)
}

function statisticOf(metric: AlarmMetric, periodMs: number, sources: Sources, age: number): number | null {
  const { metrics, queues, now } = sources
  if (metric.namespace === 'AWS/SQS')
    return queues(metric.dimensions.QueueName ?? '', metric.name, now - age * periodMs)
  const values = metrics.values(metric, now - (age + 1) * periodMs, now - age * periodMs)
  return values.length === 0 ? null : (STATISTICS[metric.statistic]?.(values) ?? null)
}
