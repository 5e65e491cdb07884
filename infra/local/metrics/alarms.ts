import type { ResolvedTemplate } from '../template/template.ts'

type MetricProperties = {
  readonly Namespace: string
  readonly MetricName: string
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[]
}

type AlarmProperties = Partial<MetricProperties> & {
  readonly AlarmName: string
  readonly AlarmDescription?: string
  readonly Statistic?: string
  readonly ExtendedStatistic?: string
  readonly Period?: number
  readonly Metrics?: readonly {
    readonly Id: string
    readonly Expression?: string
    readonly Period?: number
    readonly MetricStat?: {
      readonly Metric: MetricProperties
      readonly Period: number
      readonly Stat: string
    }
  }[]
  readonly ComparisonOperator: string
  readonly Threshold: number
  readonly EvaluationPeriods: number
  readonly DatapointsToAlarm?: number
  readonly TreatMissingData?: string
}

/** A metric of an alarm, with its statistic. */
export type AlarmMetric = {
  readonly id: string
  readonly namespace: string
  readonly name: string
  readonly dimensions: Readonly<Record<string, string>>
  readonly statistic: string
}

/** An alarm of the template. */
export type Alarm = {
  readonly name: string
  readonly description: string
  readonly metrics: readonly AlarmMetric[]
  /** What is calculated from the metrics; undefined for the only one itself. */
  readonly expression: string | undefined
  readonly periodMs: number
  readonly isOver: (value: number) => boolean
  readonly threshold: number
  readonly periods: number
  readonly breaches: number
  readonly missingIsBreach: boolean
}

const COMPARISONS: Record<string, (value: number, threshold: number) => boolean> = {
  GreaterThanThreshold: (value, threshold) => value > threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
}

/** The alarms of a template. @throws Error that names one that is not supported */
export const alarmsOf = (template: ResolvedTemplate): Alarm[] =>
  template.resourcesOf<AlarmProperties>('AWS::CloudWatch::Alarm').map(({ id, properties }) => {
    const { Metrics = [], EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, Threshold } = properties
    const compare = COMPARISONS[properties.ComparisonOperator]
    if (!compare)
      throw new Error(
        `${id} compares by ${properties.ComparisonOperator}, which the local stack does not support.`,
      )
    const calculation = Metrics.find(({ Expression }) => Expression !== undefined)
    const parts = Metrics.flatMap(({ Id, MetricStat }) =>
      MetricStat ? [metricOf(Id, MetricStat.Metric, MetricStat.Stat)] : [],
    )
    const { Namespace = '', MetricName = '', Dimensions = [] } = properties
    const only = metricOf('', { Namespace, MetricName, Dimensions }, statisticOf(properties))
    const seconds =
      properties.Period ?? Metrics.flatMap(({ MetricStat }) => MetricStat?.Period ?? [])[0] ?? 60
    return {
      name: properties.AlarmName,
      description: properties.AlarmDescription ?? '',
      metrics: parts.length > 0 ? parts : [only],
      expression: calculation?.Expression,
      periodMs: seconds * 1000,
      isOver: (value) => compare(value, Threshold),
      threshold: Threshold,
      periods: EvaluationPeriods,
      breaches: DatapointsToAlarm,
      missingIsBreach: properties.TreatMissingData === 'breaching',
    }
  })

const statisticOf = ({ Statistic, ExtendedStatistic = 'Average' }: AlarmProperties): string =>
  Statistic ?? ExtendedStatistic

const metricOf = (id: string, metric: MetricProperties, statistic: string): AlarmMetric => ({
  id,
  namespace: metric.Namespace,
  name: metric.MetricName,
  dimensions: Object.fromEntries((metric.Dimensions ?? []).map(({ Name, Value }) => [Name, Value])),
  statistic,
})
