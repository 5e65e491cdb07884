import { readFileSync } from 'node:fs'
import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { ALARMS, smsSpendingAlarm } from '../../../infra/monitoring/alarm-table.ts'
import { QUERIES } from '../../../infra/monitoring/queries.ts'
import { monitoringStackName } from '../../../infra/settings/names.ts'
import {
  type Resource,
  resourcesOf,
  type StackTemplate,
  templateOf,
  templatesOf,
} from '../../support/template.ts'

const template = templateOf('prod', { alarmEmail: 'ops@example.com', smsSpendLimit: '200' })
const definitions = [...ALARMS, smsSpendingAlarm(200)]

type Alarm = {
  AlarmName: string
  AlarmDescription: string
  AlarmActions: unknown[]
  OKActions: unknown[]
  Metrics?: { MetricStat?: object; Expression?: string; Period?: number }[]
  Threshold: number
}

const alarms = Object.values(resourcesOf(template, 'AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties as unknown as Alarm,
)

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

  it('add up at most ten metrics, the limit of an alarm', () => {
    for (const { Metrics = [] } of alarms)
      expect(Metrics.filter(({ MetricStat }) => MetricStat).length).toBeLessThanOrEqual(10)
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

  it('are outputs of the stack of alarms by the names that docs/operate/README.md has', () => {
    const { Outputs = {} } = templatesOf('prod')[monitoringStackName('prod')] ?? {}
    expect(Object.keys(Outputs).sort()).toEqual(['LookTomorrowTopic', 'PatientsAffectedTopic'])
  })

  it('have no subscription by default', () => {
    templateOf('dev').resourceCountIs('AWS::SNS::Subscription', 0)
  })
})

it('the settings add a budget, and traces, on request only', () => {
  const traced = templateOf('dev', { monthlyBudget: '500', tracing: 'on' })
  traced.hasResourceProperties('AWS::Budgets::Budget', {
    Budget: { BudgetLimit: { Amount: 500, Unit: 'USD' }, BudgetType: 'COST', TimeUnit: 'MONTHLY' },
  })
  traced.hasResourceProperties('AWS::ApiGateway::Stage', { TracingEnabled: true })
  traced.allResourcesProperties('AWS::Lambda::Function', { TracingConfig: { Mode: 'Active' } })
  template.resourceCountIs('AWS::Budgets::Budget', 0)
  template.hasResourceProperties('AWS::ApiGateway::Stage', { TracingEnabled: false })
})

const TABLE = { 'Fn::ImportValue': 'ClinicDeveloperApi-prod-Data:TableName' }

it('backups that fail, and keys that are disabled or deleted, notify the topics, which EventBridge may publish to', () => {
  const rules = Object.values(resourcesOf(template, 'AWS::Events::Rule')).flatMap(({ Properties }) => {
    const { EventPattern, Targets } = Properties as Record<string, any>
    const topic: string | undefined = Targets[0].Arn.Ref
    return topic?.includes('Topic') || topic?.includes('Patients') || topic?.includes('Look')
      ? [{ pattern: EventPattern, topic, text: JSON.stringify(Targets[0].InputTransformer) }]
      : []
  })
  expect(rules).toEqual([
    {
      pattern: {
        source: ['aws.backup'],
        'detail-type': ['Backup Job State Change', 'Copy Job State Change'],
        detail: {
          state: ['FAILED', 'ABORTED', 'EXPIRED', 'PARTIAL'],
          resourceArn: [{ 'Fn::Join': expect.arrayContaining([expect.arrayContaining([TABLE])]) }],
        },
      },
      topic: expect.stringContaining('LookTomorrow'),
      text: expect.stringContaining('docs/operate/backup-failed.md'),
    },
    {
      pattern: {
        source: ['aws.kms'],
        'detail-type': ['AWS API Call via CloudTrail'],
        detail: { eventSource: ['kms.amazonaws.com'], eventName: ['ScheduleKeyDeletion', 'DisableKey'] },
      },
      topic: expect.stringContaining('PatientsAffected'),
      text: expect.stringContaining('docs/operate/key-removal.md'),
    },
  ])
  for (const { topic } of rules)
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: 'sns:Publish',
            Principal: { Service: 'events.amazonaws.com' },
            Resource: { Ref: topic },
          }),
        ]),
      },
    })
})

it('the canary requests the domain with the secret of its name, without retries, and its alarm reads its rule', () => {
  const domain = {
    domain: 'api.praxis-nord.de',
    certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/0-1',
  }
  const watching = templateOf('prod', { ...domain, canaryMinutes: '5' })
  watching.hasResourceProperties('AWS::Events::Connection', {
    // The runbook of the alarm updates it by this name.
    Name: 'clinic-prod-canary',
    AuthorizationType: 'API_KEY',
    AuthParameters: {
      ApiKeyAuthParameters: {
        ApiKeyName: 'Authorization',
        ApiKeyValue: '{{resolve:secretsmanager:clinic-prod-canary:SecretString:::}}',
      },
    },
  })
  watching.hasResourceProperties('AWS::Events::ApiDestination', {
    HttpMethod: 'GET',
    InvocationEndpoint: 'https://api.praxis-nord.de/api/developer/v1/me',
  })
  watching.hasResourceProperties('AWS::Events::Rule', {
    Name: 'clinic-prod-canary',
    ScheduleExpression: 'rate(5 minutes)',
    Targets: [Match.objectLike({ RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 } })],
  })
  watching.hasResourceProperties('AWS::CloudWatch::Alarm', {
    AlarmName: 'clinic-developer-api-prod-canary-failing',
    ComparisonOperator: 'LessThanThreshold',
    Threshold: 1,
    TreatMissingData: 'breaching',
    Metrics: Match.arrayWith([
      Match.objectLike({
        MetricStat: Match.objectLike({
          Metric: {
            Namespace: 'AWS/Events',
            MetricName: 'FailedInvocations',
            Dimensions: [{ Name: 'RuleName', Value: 'clinic-prod-canary' }],
          },
          Period: 600,
        }),
      }),
    ]),
  })
})

it.each<[failed: number, sent: number, delivered: number, percent: number]>([
  [5, 15, 0, 25],
  [4, 5, 0, 0],
  // SNS accepts what a carrier then rejects.
  [3, 3, 0, 50],
  [3, 0, 0, 100],
  [2, 0, 0, 0],
])(
  'of an hour with %i failed, %i sent and %i delivered SMS, %i percent fail',
  (failed, sent, delivered, percent) => {
    const alarm = alarms.find(({ AlarmName }) => AlarmName.endsWith('-sms-failing'))
    const expression = alarm?.Metrics?.find(({ Expression }) => Expression)?.Expression
    // Metric math that is JavaScript, too.
    const evaluate = Function('IF', 'MAX', 'FILL', 'failed', 'sent', 'delivered', `return ${expression}`)
    const choose = (condition: boolean, then: number, otherwise: number) => (condition ? then : otherwise)
    const result = evaluate(
      choose,
      (all: number[]) => Math.max(...all),
      (n: number) => n,
      failed,
      sent,
      delivered,
    )
    expect(result).toBe(percent)
  },
)

it('the errors of routes are counted from the access log under the metric and the dimensions that the alarm queries', () => {
  const [filter] = Object.values(resourcesOf(template, 'AWS::Logs::MetricFilter'))
  const { FilterPattern, MetricTransformations } = (filter as Resource).Properties as Record<string, any>
  const [{ MetricNamespace, MetricName, Dimensions }] = MetricTransformations
  const [stage] = Object.values(resourcesOf(template, 'AWS::ApiGateway::Stage'))
  const { AccessLogSetting } = (stage as Resource).Properties as Record<string, any>
  const fields = Object.keys(JSON.parse(AccessLogSetting.Format))
  for (const { Key, Value } of Dimensions) expect([Value, fields.includes(Key)]).toEqual([`$.${Key}`, true])
  expect([FilterPattern, fields.includes('status')]).toEqual(['{ $.status = "5*" }', true])
  const alarm = alarms.find(({ AlarmName }) => AlarmName.endsWith('-route-errors'))
  expect(alarm?.Metrics).toMatchObject([
    {
      Expression: `SELECT SUM(${MetricName}) FROM SCHEMA(${MetricNamespace}, ${Dimensions.map(({ Key }: { Key: string }) => Key).join(', ')}) WHERE stage = 'prod' GROUP BY method, route ORDER BY SUM() DESC LIMIT 1`,
      Period: 300,
    },
  ])
})

it('the saved queries have lines of the log groups that they read, and docs/operate/README.md describes each', () => {
  const { Resources } = templatesOf('prod')[monitoringStackName('prod')] as StackTemplate
  const queries = Object.values(Resources).filter(({ Type }) => Type === 'AWS::Logs::QueryDefinition')
  const logGroups = Object.fromEntries(
    queries.map(({ Properties: { Name, LogGroupNames } }) => [
      String(Name).split('/')[1],
      JSON.stringify(LogGroupNames).match(/\w+(?=LogGroup)/g),
    ]),
  )
  const functions = ['Endpoint', 'Public', 'Worker']
  expect(logGroups).toEqual({
    ...Object.fromEntries(Object.keys(QUERIES).map((name) => [name, functions])),
    // A request that the gateway rejected has no other line.
    'by-request-id': [...functions, 'Gateway'],
    'refused-by-gateway': ['Gateway'],
  })
  const text = readFileSync('docs/operate/README.md', 'utf8')
  expect(Object.keys(QUERIES).filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([])
})

it.each([
  [{ alarmEmail: 'ops' }, 'alarmEmail is not an email address: "ops"'],
  [{ smsSpendLimit: '0' }, 'smsSpendLimit must be an integer of US dollars: "0"'],
  [{ monthlyBudget: '1.5' }, 'monthlyBudget must be an integer of US dollars: "1.5"'],
  [{ canaryMinutes: '5' }, 'canaryMinutes needs a domain, which the canary requests'],
  [{ canaryMinutes: '61' }, 'canaryMinutes must be an integer from 1 to 60: "61"'],
  [{ tracing: 'yes' }, 'tracing must be "on" or "off": "yes"'],
])('%j is rejected', (settings, message) => {
  expect(() => templateOf('dev', settings)).toThrow(message)
})
