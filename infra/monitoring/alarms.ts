import {
  Alarm,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import { keysOf } from '../../shared/domain/keys-of.ts'
import type { AlarmDefinition, Severity } from './alarm.ts'
import { ALARMS, canaryAlarm, smsSpendingAlarm } from './alarm-table.ts'
import type { MonitoringProps } from './figures.ts'
import { metricOf, type Watched } from './figures.ts'
import { alarmTopic, topicKey } from './topics.ts'

const SEVERITIES: Record<Severity, { id: string; title: string }> = {
  'patients-affected': { id: 'PatientsAffected', title: 'Patients are affected' },
  'look-tomorrow': { id: 'LookTomorrow', title: 'Look tomorrow' },
}

/** The alarms of the table. Each notifies the topic of its severity; a composite says whether any of a severity is on. */
export class Alarms extends Construct {
  readonly composites: readonly CompositeAlarm[]
  readonly alarms: readonly Alarm[]
  readonly topics: ReadonlyMap<Severity, Topic>

  constructor(scope: Construct, id: string, { settings, watched }: MonitoringProps) {
    super(scope, id)
    const key = topicKey(this)
    const definitions = [
      ...ALARMS,
      smsSpendingAlarm(settings.smsSpendLimit),
      ...(settings.canary ? [canaryAlarm(settings.canary.minutes)] : []),
    ]
    const all: Alarm[] = []
    const topics = new Map<Severity, Topic>()
    this.composites = keysOf(SEVERITIES).map((severity) => {
      const { id: name, title } = SEVERITIES[severity]
      const topic = alarmTopic(this, name, key, settings)
      topics.set(severity, topic)
      const alarms = definitions
        .filter((definition) => definition.severity === severity)
        .map((definition) => {
          const alarm = createAlarm(this, definition, watched)
          alarm.addAlarmAction(new SnsAction(topic))
          alarm.addOkAction(new SnsAction(topic))
          return alarm
        })
      all.push(...alarms)
      // Its own action would send a second notification for each first alarm.
      return new CompositeAlarm(this, `${name}Composite`, {
        compositeAlarmName: alarmName(watched, severity),
        alarmDescription: `${title}. See the alarms that it consists of.`,
        alarmRule: AlarmRule.anyOf(...alarms.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM))),
      })
    })
    this.alarms = all
    this.topics = topics
  }
}

const alarmName = ({ stage }: Watched, id: string): string => `clinic-developer-api-${stage}-${id}`

function createAlarm(scope: Construct, definition: AlarmDefinition, watched: Watched): Alarm {
  const { id, why, page, figure, above, below, minutes, periods = 1, breaches = 1 } = definition
  return new Alarm(scope, id, {
    alarmName: alarmName(watched, id),
    alarmDescription: `${why} Runbook: docs/operate/${page}.md`,
    metric: metricOf(figure, watched, minutes),
    threshold: above ?? below ?? 0,
    comparisonOperator:
      above === undefined
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_THRESHOLD,
    evaluationPeriods: periods,
    datapointsToAlarm: breaches,
    treatMissingData: definition.missingIsBreach
      ? TreatMissingData.BREACHING
      : TreatMissingData.NOT_BREACHING,
  })
}
