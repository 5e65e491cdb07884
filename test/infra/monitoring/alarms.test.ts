import { globSync, readFileSync } from 'node:fs'
import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { ALARMS, smsSpendingAlarm } from '../../../infra/monitoring/alarm-table.ts'
import { QUERIES } from '../../../infra/monitoring/queries.ts'
import { monitoringStackName } from '../../../infra/names.ts'
import { NAMESPACE } from '../../../shared/observability/metrics.ts'
import { resourcesOf, type StackTemplate, templateOf, templatesOf } from '../../support/template.ts'
import { AWS_METRICS } from './aws-metrics.ts'

const template = templateOf('prod', { alarmEmail: 'ops@example.com', smsSpendLimit: '200' })
const definitions = [...ALARMS, smsSpendingAlarm(200)]

type Metric = { Namespace: string; MetricName: string; Dimensions?: { Name: string }[] }
type Alarm = Metric & {
  AlarmName: string
  AlarmDescription: string
  AlarmActions: unknown[]
  OKActions: unknown[]
  Metrics?: { MetricStat?: { Metric: Metric } }[]
  Threshold: number
}

const alarms = Object.values(resourcesOf(template, 'AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties as unknown as Alarm,
)
const metricsOf = ({ Metrics, ...alarm }: Alarm): Metric[] =>
  Metrics ? Metrics.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : [])) : [alarm]

describe('the alarms', () => {
  it('are those of the table, each with its threshold and the page of the runbook', () => {
    const expected = definitions.map(({ id, page, above, below }) => [
      `clinic-developer-api-prod-${id}`,
      `docs/operate/${page}.md`,
      above ?? below,
    ])
    expect(
      alarms
        .map(({ AlarmName, AlarmDescription, Threshold }) => [
          AlarmName,
          AlarmDescription.split('Runbook: ')[1],
          Threshold,
        ])
        .sort(),
    ).toEqual(expected.sort())
  })

  it('have one threshold each', () => {
    for (const { id, above, below } of definitions)
      expect([id, (above === undefined) !== (below === undefined)]).toEqual([id, true])
  })

  it.each([
    ['patients-affected', 'PatientsAffected'],
    ['look-tomorrow', 'LookTomorrow'],
  ])('of severity %s notify their topic, and make up one composite', (severity, topic) => {
    const [topicId] = Object.keys(resourcesOf(template, 'AWS::SNS::Topic')).filter((id) => id.includes(topic))
    const names = definitions
      .filter((definition) => definition.severity === severity)
      .map(({ id }) => `clinic-developer-api-prod-${id}`)
    const notifying = alarms.filter(
      ({ AlarmActions }) => JSON.stringify(AlarmActions) === `[{"Ref":"${topicId}"}]`,
    )
    expect(notifying.map(({ AlarmName }) => AlarmName).sort()).toEqual(names.sort())
    for (const { AlarmActions, OKActions } of notifying) expect(OKActions).toEqual(AlarmActions)
    const [composite] = Object.values(resourcesOf(template, 'AWS::CloudWatch::CompositeAlarm')).filter(
      ({ Properties }) =>
        (Properties as Record<string, unknown>).AlarmName === `clinic-developer-api-prod-${severity}`,
    )
    const rule = JSON.stringify((composite?.Properties as Record<string, unknown> | undefined)?.AlarmRule)
    expect(rule.match(/Fn::GetAtt/g)?.length).toBe(names.length)
  })

  it('watch metrics of AWS that its documentation has, by their dimensions', () => {
    const watched = alarms.flatMap(metricsOf).filter(({ Namespace }) => Namespace !== NAMESPACE)
    for (const { Namespace, MetricName, Dimensions = [] } of watched) {
      const name = `${Namespace} ${MetricName}`
      expect([name, Dimensions.map((dimension) => dimension.Name).sort()]).toEqual([
        name,
        AWS_METRICS[name]?.dimensions,
      ])
    }
    expect(new Set(watched.map(({ Namespace }) => Namespace)).size).toBe(7)
  })

  it('add up at most ten metrics, the limit of an alarm', () => {
    for (const alarm of alarms) expect(metricsOf(alarm).length).toBeLessThanOrEqual(10)
  })

  it('watch metrics of the service that its code records', () => {
    const sources = globSync('{functions,shared}/**/*.ts').map((file) => readFileSync(file, 'utf8'))
    const own = alarms.flatMap(metricsOf).filter(({ Namespace }) => Namespace === NAMESPACE)
    for (const { MetricName, Dimensions = [] } of own) {
      expect([MetricName, sources.some((source) => source.includes(`('${MetricName}'`))]).toEqual([
        MetricName,
        true,
      ])
      expect(Dimensions.map(({ Name }) => Name)).toContain('stage')
    }
  })
})

describe('the topics', () => {
  it('are encrypted with a key that alarms may use, and send to the address of the deployment', () => {
    template.allResourcesProperties('AWS::SNS::Topic', { KmsMasterKeyId: Match.anyValue() })
    template.resourcePropertiesCountIs(
      'AWS::SNS::Subscription',
      { Protocol: 'email', Endpoint: 'ops@example.com' },
      2,
    )
    template.hasResourceProperties('AWS::KMS::Key', {
      Description: 'Encrypts notifications of alarms',
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Action: Match.arrayWith(['kms:Decrypt', 'kms:GenerateDataKey*']),
          }),
        ]),
      },
    })
  })

  it('are outputs of the stack of alarms by the names that operate.md has', () => {
    const { Outputs = {} } = templatesOf('prod')[monitoringStackName('prod')] ?? {}
    expect(Object.keys(Outputs).sort()).toEqual(['LookTomorrowTopic', 'PatientsAffectedTopic'])
  })

  it('have no subscription by default', () => {
    templateOf('dev').resourceCountIs('AWS::SNS::Subscription', 0)
  })
})

describe('the settings', () => {
  it('add a budget, and traces, on request only', () => {
    const traced = templateOf('dev', { monthlyBudget: '500', tracing: 'on' })
    traced.hasResourceProperties('AWS::Budgets::Budget', {
      Budget: { BudgetLimit: { Amount: 500, Unit: 'USD' }, BudgetType: 'COST', TimeUnit: 'MONTHLY' },
    })
    traced.hasResourceProperties('AWS::ApiGateway::Stage', { TracingEnabled: true })
    traced.allResourcesProperties('AWS::Lambda::Function', { TracingConfig: { Mode: 'Active' } })
    template.resourceCountIs('AWS::Budgets::Budget', 0)
    template.hasResourceProperties('AWS::ApiGateway::Stage', { TracingEnabled: false })
  })
})

it('the saved queries have lines of the log groups that they read, and operate.md describes each', () => {
  const { Resources } = templatesOf('prod')[monitoringStackName('prod')] as StackTemplate
  const queries = Object.values(Resources).filter(({ Type }) => Type === 'AWS::Logs::QueryDefinition')
  const logGroups = Object.fromEntries(
    queries.map(({ Properties: { Name, LogGroupNames } }) => [
      String(Name).split('/')[1],
      JSON.stringify(LogGroupNames).match(/\w+(?=LogGroup)/g),
    ]),
  )
  const functions = ['Endpoint', 'Worker']
  expect(logGroups).toEqual({
    ...Object.fromEntries(Object.keys(QUERIES).map((name) => [name, functions])),
    // A request that the gateway refused has no other line.
    'by-request-id': [...functions, 'Gateway'],
    'refused-by-gateway': ['Gateway'],
  })
  const text = readFileSync('docs/operate.md', 'utf8')
  expect(Object.keys(QUERIES).filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([])
})

it.each([
  [{ alarmEmail: 'ops' }, 'alarmEmail is not an email address: "ops".'],
  [{ smsSpendLimit: '0' }, 'smsSpendLimit must be an integer of US dollars: "0".'],
  [{ monthlyBudget: '1.5' }, 'monthlyBudget must be an integer of US dollars: "1.5".'],
  [{ tracing: 'yes' }, 'tracing must be "on" or "off": "yes".'],
])('%j is rejected', (settings, message) => {
  expect(() => templateOf('dev', settings)).toThrow(message)
})
