import { Match, Template } from 'aws-cdk-lib/assertions'
import { ResponseType } from 'aws-cdk-lib/aws-apigateway'
import { describe, expect, it } from 'vitest'
import { functionIds, stackName } from '../../infra/clinic-stack.ts'
import { stageSettings } from '../../infra/stages.ts'
import { BASE_PATH, type Service } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'
import { WORKERS } from '../../shared/runtime/workers.ts'
import * as dueKeys from '../../shared/store/keys/due.ts'
import * as eventKeys from '../../shared/store/keys/events.ts'
import * as messageKeys from '../../shared/store/keys/messages.ts'
import * as webhookKeys from '../../shared/store/keys/webhooks.ts'
import {
  grantsOf,
  logicalIdAt,
  type Resource,
  receiptsStackOf,
  resourceOfFunction,
  resourcesOf,
  type Statement,
  templateOf,
} from '../support/template.ts'

const dev = templateOf('dev')
const prod = templateOf('prod')

const arnOf = (path: string) => ({ 'Fn::GetAtt': [logicalIdAt(dev, path), 'Arn'] })
const refTo = (path: string) => ({ Ref: logicalIdAt(dev, path) })

type Method = { HttpMethod: string; ResourceId: { Ref?: string }; AuthorizationType: string }

const methods = Object.values(resourcesOf(dev, 'AWS::ApiGateway::Method')).map(
  ({ Properties }) => Properties as unknown as Method,
)

/** `/api/developer/v1/patients` of a resource, from its chain of parents. */
function pathOf(ref: string | undefined): string {
  const resource = ref ? resourcesOf(dev, 'AWS::ApiGateway::Resource')[ref] : undefined
  if (!resource) return ''
  const { PathPart, ParentId } = resource.Properties as unknown as {
    PathPart: string
    ParentId: { Ref?: string }
  }
  return `${pathOf(ParentId.Ref)}/${PathPart}`
}

describe('the API', () => {
  it('has a method for every route, and any other method of every resource goes to the fallback', () => {
    const served = methods.map(({ HttpMethod, ResourceId }) => `${HttpMethod} ${pathOf(ResourceId.Ref)}`)
    const paths = Object.keys(resourcesOf(dev, 'AWS::ApiGateway::Resource')).map(pathOf)
    const routes = ROUTES.map(({ method, path }) => `${method} ${BASE_PATH}${path}`)
    expect(served.sort()).toEqual([...routes, 'ANY ', ...paths.map((path) => `ANY ${path}`)].sort())
    expect(paths).toContain(`${BASE_PATH}/{proxy+}`)
  })

  it('renders every type of gateway error in our shape, with our status, and without the gateway’s words', () => {
    const types = Object.values(ResponseType).filter(
      (type): type is ResponseType => type instanceof ResponseType,
    )
    const responses = Object.values(resourcesOf(dev, 'AWS::ApiGateway::GatewayResponse')).map(
      ({ Properties }) => Properties as unknown as Record<string, unknown>,
    )
    expect(responses.map(({ ResponseType }) => ResponseType).sort()).toEqual(
      types.map(({ responseType }) => responseType).sort(),
    )
    for (const response of responses) {
      expect(response.StatusCode).toMatch(/^[45]\d\d$/)
      expect(response.ResponseParameters).toMatchObject({
        'gatewayresponse.header.x-request-id': 'context.requestId',
      })
      const templates = response.ResponseTemplates as Record<string, string>
      expect(Object.keys(templates)).toEqual(['application/json'])
      expect(JSON.parse(templates['application/json'] ?? '')).toEqual({
        error: expect.stringMatching(/^[A-Z_]+$/),
        message: expect.stringMatching(/^errors\.developer_api\.[a-z_]+$/),
      })
      expect(JSON.stringify(response)).not.toContain('context.error')
    }
  })

  it('logs neither path nor query nor error texts, and no requests', () => {
    const [stage] = Object.values(resourcesOf(dev, 'AWS::ApiGateway::Stage'))
    const { AccessLogSetting, MethodSettings } = (stage as Resource).Properties as unknown as {
      AccessLogSetting: { Format: string }
      MethodSettings: unknown[]
    }
    const used = Object.values(JSON.parse(AccessLogSetting.Format) as Record<string, string>)
    expect(used.sort()).toEqual([
      '$context.error.responseType',
      '$context.httpMethod',
      '$context.integrationLatency',
      '$context.requestId',
      '$context.requestTime',
      '$context.resourcePath',
      '$context.responseLatency',
      '$context.status',
    ])
    const { throttle } = stageSettings('dev')
    expect(MethodSettings).toEqual([
      expect.objectContaining({
        HttpMethod: '*',
        ResourcePath: '/*',
        LoggingLevel: 'OFF',
        DataTraceEnabled: false,
        ThrottlingRateLimit: throttle.rate,
        ThrottlingBurstLimit: throttle.burst,
      }),
    ])
  })
})

const actions = (names: readonly string[]) => (names.length === 1 ? names[0] : names) as string | string[]

const writeLogs = (path: string) => ({
  Effect: 'Allow',
  Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
  Resource: arnOf(`${path}/Logs`),
})

const onTable = { Effect: 'Allow', Resource: arnOf('Data/Table') }

/** Whoever writes records announces their events; what is due otherwise is for those that deliver. */
function hidden(calls: readonly string[]): string[] {
  const due = calls.includes('PutItem') ? ['due#message#*', 'due#delivery#*', 'due#unresolved*'] : ['due#*']
  return [...due, 'provider#*']
}

const tableGrant = (calls: readonly string[], { delivers }: { delivers: boolean }) => ({
  ...onTable,
  Action: actions(calls.map((call) => `dynamodb:${call}`)),
  Condition: {
    'ForAllValues:StringNotLike': {
      'dynamodb:LeadingKeys': ['credential#*', 'clinics', ...(delivers ? [] : hidden(calls))],
    },
  },
})

const useKey = {
  Effect: 'Allow',
  Action: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
  Resource: arnOf('Data/TableKey'),
  Condition: {
    StringEquals: {
      'kms:ViaService': { 'Fn::Join': ['', ['dynamodb.', { Ref: 'AWS::Region' }, '.amazonaws.com']] },
    },
  },
}

const pushTo = (queue: string) => ({ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: arnOf(queue) })
const pushEmails = pushTo('Messaging/Emails')
const pushDeliveries = pushTo('Events/Deliveries')
const pushSlowDeliveries = pushTo('Events/SlowDeliveries')

/** Phones have no ARN; every topic has. */
const sendSms = {
  Effect: 'Allow',
  Action: 'sns:Publish',
  NotResource: { 'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':sns:*:*:*']] },
}

const SERVICES: Record<Service, object> = {
  sms: sendSms,
  'email-queue': pushEmails,
  'delivery-queue': pushDeliveries,
}

/** `arn:aws:<service>:<region>:<account>:<resource>` as the template writes it. */
const arn = (service: string, ...resource: unknown[]) => ({
  'Fn::Join': [
    '',
    [
      'arn:',
      { Ref: 'AWS::Partition' },
      `:${service}:`,
      { Ref: 'AWS::Region' },
      ':',
      { Ref: 'AWS::AccountId' },
      ...resource,
    ],
  ],
})

const deliveryQueues = {
  DELIVERY_QUEUE_URL: refTo('Events/Deliveries'),
  SLOW_DELIVERY_QUEUE_URL: refTo('Events/SlowDeliveries'),
}

const environmentOf = (template: Template, id: string) =>
  (
    resourceOfFunction(template, 'AWS::Lambda::Function', id).Properties as unknown as {
      Environment?: { Variables: Record<string, unknown> }
    }
  ).Environment?.Variables ?? {}

describe('the functions', () => {
  it.each(functionIds())('%s runs on Node 24 and arm64', (id) => {
    expect(resourceOfFunction(dev, 'AWS::Lambda::Function', id).Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
    })
  })

  it.each(ROUTES.map((route) => [route.id, route] as const))(
    '%s may do what its route says, and nothing else',
    (id, route) => {
      const services = route.uses.services ?? []
      expect(grantsOf(dev, id)).toEqual([
        writeLogs(`Api/${id}`),
        {
          ...onTable,
          Action: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
          Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['credential#*'] } },
        },
        tableGrant(route.uses.table, { delivers: services.length > 0 }),
        useKey,
        ...services.map((service) => SERVICES[service]),
      ])
    },
  )

  it('that use more than the table are few', () => {
    const services = ROUTES.flatMap(({ id, uses }) => (uses.services ? [[id, ...uses.services]] : []))
    expect(services).toEqual([
      ['send-message', 'sms', 'email-queue'],
      ['ping-webhook', 'delivery-queue'],
      ['redeliver', 'delivery-queue'],
    ])
  })

  it('that write records reach no family of what is due but the announced events; those that read, none', () => {
    const partitions = Object.entries({ ...dueKeys, ...eventKeys, ...messageKeys, ...webhookKeys })
      .flatMap(([name, value]): unknown => (/_EXCEPT_|^DUE_PARTITION_PREFIX$/.test(name) ? [] : value))
      .filter((value): value is string => typeof value === 'string' && value.startsWith('due#'))
    expect(partitions.length).toBeGreaterThan(15)
    const reached = (id: string) => {
      const [patterns = []] = grantsOf(dev, id).flatMap(({ Condition = {} }) => {
        const unlike = Condition['ForAllValues:StringNotLike'] as Record<string, string[]> | undefined
        return unlike ? [unlike['dynamodb:LeadingKeys'] ?? []] : []
      })
      return partitions.filter((pk) => !patterns.some((pattern) => pk.startsWith(pattern.replace('*', ''))))
    }
    const { ANNOUNCED_PARTITION_PREFIX: ANNOUNCED_PARTITIONS } = eventKeys
    const announced = partitions.filter((pk) => pk.startsWith(ANNOUNCED_PARTITIONS))
    expect(announced.length).toBe(1 + eventKeys.ALL_ANNOUNCED_PARTITIONS.length)
    for (const { id, uses } of ROUTES.filter(({ uses }) => !uses.services))
      expect([id, reached(id)]).toEqual([id, uses.table.includes('PutItem') ? announced : []])
    expect(reached('redeliver')).toEqual(partitions)
  })

  it('are told what they need; send-message alone reaches phones', () => {
    const { messaging } = stageSettings('dev')
    expect(environmentOf(dev, 'send-message')).toEqual({
      ...environmentOf(dev, 'get-patient'),
      SMS_SENDER_ID: messaging.smsSenderId,
      SMS_MAX_PRICE: messaging.smsMaxPrice,
      SMS_PER_DAY: String(messaging.smsPerDay),
      EMAILS_PER_DAY: String(messaging.emailsPerDay),
      SMS_COUNTRIES: messaging.smsCountries.join(','),
      EMAIL_QUEUE_URL: refTo('Messaging/Emails'),
    })
    expect(Object.keys(environmentOf(dev, 'get-patient')).sort()).toEqual([
      'CHECK_RESPONSES',
      'REQUESTS_PER_MINUTE',
      'TABLE_NAME',
    ])
    for (const id of ['ping-webhook', 'redeliver'])
      expect(environmentOf(dev, id)).toEqual({ ...environmentOf(dev, 'get-patient'), ...deliveryQueues })
    // Only the local runner says which host on its machine webhooks may name.
    for (const id of ['create-webhook', 'update-webhook', 'fan-out-events', 'deliver-event'])
      expect(environmentOf(dev, id)).not.toHaveProperty('ALLOWED_WEBHOOK_HOST')
    const publishing = functionIds().filter((id) => JSON.stringify(grantsOf(dev, id)).includes('sns:'))
    expect(publishing).toEqual(['send-message'])
  })

  it.each(functionIds())('%s has no policy of somebody else’s making', (id) => {
    expect(resourceOfFunction(dev, 'AWS::IAM::Role', id).Properties).not.toHaveProperty('ManagedPolicyArns')
  })

  it('lets the fallback write its log, and nothing else', () => {
    expect(grantsOf(dev, 'fallback').map(({ Action }) => Action)).toEqual([
      ['logs:CreateLogStream', 'logs:PutLogEvents'],
    ])
  })

  it('checks answers and is generous in development only', () => {
    expect(environmentOf(dev, 'get-patient')).toMatchObject({ CHECK_RESPONSES: 'on' })
    expect(environmentOf(prod, 'get-patient')).toMatchObject({
      CHECK_RESPONSES: 'off',
      REQUESTS_PER_MINUTE: '300',
    })
  })
})

describe('the table', () => {
  const properties = {
    BillingMode: 'PAY_PER_REQUEST',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    // What was written, not what it says: nothing of a patient is in the stream.
    StreamSpecification: { StreamViewType: 'KEYS_ONLY' },
    TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
  }

  it('keeps its data in production, also when the stack goes', () => {
    prod.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: { ...properties, DeletionProtectionEnabled: true },
    })
  })

  it('goes with the stack in development', () => {
    dev.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Delete',
      Properties: { ...properties, DeletionProtectionEnabled: false },
    })
  })
})

type Worker = {
  in: 'Messaging' | 'Events'
  timeout: number
  environment: object
  calls: string[]
  grants: object[]
}

/** Feeding a function from a queue, as the CDK grants it. */
const consume = (path: string) => ({
  Effect: 'Allow',
  Action: [
    'sqs:ReceiveMessage',
    'sqs:ChangeMessageVisibility',
    'sqs:GetQueueUrl',
    'sqs:DeleteMessage',
    'sqs:GetQueueAttributes',
  ],
  Resource: arnOf(path),
})

const stream = { 'Fn::GetAtt': [logicalIdAt(dev, 'Data/Table'), 'StreamArn'] }

/** Feeding a function from the table's stream, as the CDK grants it: streams are listed without a name. */
const followStream = [
  { Effect: 'Allow', Action: 'dynamodb:ListStreams', Resource: '*' },
  { Effect: 'Allow', Action: ['kms:Decrypt', 'kms:DescribeKey'], Resource: arnOf('Data/TableKey') },
  {
    Effect: 'Allow',
    Action: ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
    Resource: stream,
  },
]

const workers: Record<string, Worker> = {
  'send-email': {
    in: 'Messaging',
    timeout: 15,
    environment: {
      EMAIL_QUEUE_URL: refTo('Messaging/Emails'),
      EMAIL_FROM: 'clinic@example.com',
      EMAIL_CONFIGURATION_SET: refTo('Messaging/Mail'),
    },
    calls: ['GetItem', 'UpdateItem', 'PutItem', 'DeleteItem'],
    grants: [
      pushEmails,
      {
        Effect: 'Allow',
        Action: 'ses:SendEmail',
        Resource: [
          arn('ses', ':identity/clinic@example.com'),
          arn('ses', ':identity/example.com'),
          arn('ses', ':configuration-set/', refTo('Messaging/Mail')),
        ],
        Condition: { StringEquals: { 'ses:FromAddress': 'clinic@example.com' } },
      },
      consume('Messaging/Emails'),
    ],
  },
  'email-feedback': {
    in: 'Messaging',
    timeout: 15,
    environment: {},
    calls: ['GetItem', 'PutItem', 'DeleteItem'],
    grants: [consume('Messaging/Feedback')],
  },
  'sms-receipts': {
    in: 'Messaging',
    timeout: 15,
    environment: {},
    calls: ['GetItem', 'PutItem'],
    grants: [],
  },
  'sweep-messages': {
    in: 'Messaging',
    timeout: 60,
    environment: { EMAIL_QUEUE_URL: refTo('Messaging/Emails') },
    calls: ['Query', 'GetItem', 'PutItem', 'DeleteItem', 'BatchWriteItem'],
    grants: [pushEmails],
  },
  'fan-out-events': {
    in: 'Events',
    timeout: 60,
    environment: deliveryQueues,
    calls: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
    grants: [pushDeliveries, ...followStream],
  },
  'deliver-event': {
    in: 'Events',
    timeout: 60,
    environment: deliveryQueues,
    calls: ['BatchGetItem', 'GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
    grants: [
      pushDeliveries,
      pushSlowDeliveries,
      consume('Events/Deliveries'),
      consume('Events/SlowDeliveries'),
    ],
  },
  'sweep-events': {
    in: 'Events',
    timeout: 60,
    environment: deliveryQueues,
    calls: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'],
    grants: [pushDeliveries, pushSlowDeliveries],
  },
}

describe('the workers', () => {
  const mappings = Object.values(resourcesOf(dev, 'AWS::Lambda::EventSourceMapping')).map(
    ({ Properties }) => Properties as { ScalingConfig?: object },
  )

  it('are those of the worker table', () => {
    expect(WORKERS.map(({ id }) => id).sort()).toEqual(Object.keys(workers).sort())
  })

  it.each(Object.entries(workers))(
    '%s has its time, its environment and its grants, and no others',
    (id, worker) => {
      const { timeout, environment, calls, grants, in: room } = worker
      expect(resourceOfFunction(dev, 'AWS::Lambda::Function', id).Properties.Timeout).toBe(timeout)
      expect(environmentOf(dev, id)).toEqual({ TABLE_NAME: refTo('Data/Table'), ...environment })
      expect(grantsOf(dev, id)).toEqual([
        writeLogs(`${room}/${id}`),
        tableGrant(calls, { delivers: true }),
        useKey,
        ...grants,
      ])
    },
  )

  it('take from their queues so that what fails comes back alone', () => {
    const fed = (queue: string, id: string, MaximumConcurrency: number) => ({
      EventSourceArn: arnOf(queue),
      FunctionName: refTo(`${id}/Function`),
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BatchSize: 10,
      ScalingConfig: { MaximumConcurrency },
    })
    expect(mappings.filter(({ ScalingConfig }) => ScalingConfig)).toEqual(
      [
        fed('Messaging/Emails', 'Messaging/send-email', 10),
        fed('Messaging/Feedback', 'Messaging/email-feedback', 10),
        fed('Events/Deliveries', 'Events/deliver-event', 50),
        fed('Events/SlowDeliveries', 'Events/deliver-event', 20),
      ].map((mapping) => expect.objectContaining(mapping)),
    )
  })

  it('hear of every announced event, from the first on, and of nothing else that is written', () => {
    const [mapping, ...more] = mappings.filter(({ ScalingConfig }) => !ScalingConfig)
    expect(more).toEqual([])
    expect(mapping).toMatchObject({
      EventSourceArn: stream,
      FunctionName: refTo('Events/fan-out-events/Function'),
      StartingPosition: 'TRIM_HORIZON',
      // What fails so often is swept; it holds up nobody else's events for longer.
      MaximumRetryAttempts: 3,
    })
    const filters = (mapping as { FilterCriteria?: { Filters: { Pattern: string }[] } }).FilterCriteria
      ?.Filters
    expect(filters?.map(({ Pattern }) => JSON.parse(Pattern))).toEqual([
      { eventName: ['INSERT'], dynamodb: { Keys: { pk: { S: [{ prefix: 'due#event#' }] } } } },
    ])
    expect(eventKeys.ALL_ANNOUNCED_PARTITIONS.filter((pk) => !pk.startsWith('due#event#'))).toEqual([])
  })

  it.each(['Messaging/sweep-messages', 'Events/sweep-events'])(
    '%s comes every minute, and is not repeated, neither by the schedule nor by Lambda',
    (sweep) => {
      dev.resourceCountIs('AWS::Lambda::EventInvokeConfig', 2)
      dev.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
        FunctionName: refTo(`${sweep}/Function`),
        MaximumRetryAttempts: 0,
      })
      dev.hasResourceProperties('AWS::Events::Rule', {
        ScheduleExpression: 'rate(1 minute)',
        State: 'ENABLED',
        Targets: [
          { Id: 'Target0', Arn: arnOf(`${sweep}/Function`), RetryPolicy: { MaximumRetryAttempts: 0 } },
        ],
      })
    },
  )
})

describe('the queues', () => {
  type Queue = {
    RedrivePolicy?: { deadLetterTargetArn: unknown; maxReceiveCount: number }
    SqsManagedSseEnabled: boolean
    VisibilityTimeout?: number
    MessageRetentionPeriod: number
  }
  const queues = resourcesOf(dev, 'AWS::SQS::Queue') as unknown as Record<string, { Properties: Queue }>
  const DAYS = 24 * 60 * 60

  it.each([
    ['Messaging/Emails', 'send-email'],
    ['Messaging/Feedback', 'email-feedback'],
    ['Events/Deliveries', 'deliver-event'],
    ['Events/SlowDeliveries', 'deliver-event'],
  ])('%s gives up after five receives, none of them while its function may be at it', (name, id) => {
    const queue = queues[logicalIdAt(dev, name)]?.Properties
    expect(queue).toMatchObject({
      RedrivePolicy: { deadLetterTargetArn: arnOf(`${name}Dead`), maxReceiveCount: 5 },
    })
    const { Timeout } = resourceOfFunction(dev, 'AWS::Lambda::Function', id).Properties as unknown as {
      Timeout: number
    }
    expect(queue?.VisibilityTimeout).toBeGreaterThanOrEqual(6 * Timeout)
    const dead = queues[logicalIdAt(dev, `${name}Dead`)]?.Properties
    // A dead letter keeps the age that it had.
    expect(dead?.MessageRetentionPeriod).toBe(14 * DAYS)
    expect(dead).not.toHaveProperty('RedrivePolicy')
  })

  it.each(Object.keys(queues))('%s is encrypted, and closed to whoever comes without TLS', (id) => {
    expect(queues[id]?.Properties.SqsManagedSseEnabled).toBe(true)
    const policies = Object.values(resourcesOf(dev, 'AWS::SQS::QueuePolicy')).map(
      ({ Properties }) =>
        Properties as unknown as { Queues: unknown[]; PolicyDocument: { Statement: Statement[] } },
    )
    const [policy, ...more] = policies.filter(
      ({ Queues }) => JSON.stringify(Queues) === JSON.stringify([{ Ref: id }]),
    )
    expect(more).toEqual([])
    expect(policy?.PolicyDocument.Statement).toContainEqual({
      Effect: 'Deny',
      Principal: { AWS: '*' },
      Action: 'sqs:*',
      Resource: { 'Fn::GetAtt': [id, 'Arn'] },
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    })
  })

  it('are for emails, feedback and deliveries, each with one for its dead letters, which the operator finds', () => {
    const outputs = {
      EmailQueueUrl: 'Messaging/Emails',
      DeadEmailQueueUrl: 'Messaging/EmailsDead',
      FeedbackQueueUrl: 'Messaging/Feedback',
      DeadFeedbackQueueUrl: 'Messaging/FeedbackDead',
      DeliveryQueueUrl: 'Events/Deliveries',
      DeadDeliveryQueueUrl: 'Events/DeliveriesDead',
      SlowDeliveryQueueUrl: 'Events/SlowDeliveries',
      DeadSlowDeliveryQueueUrl: 'Events/SlowDeliveriesDead',
    }
    for (const [output, name] of Object.entries(outputs)) dev.hasOutput(output, { Value: refTo(name) })
    const ids = Object.values(outputs).map((name) => logicalIdAt(dev, name))
    expect(Object.keys(queues).sort()).toEqual(ids.sort())
  })

  it('of deliveries are told apart by their names, which begin with the stack’s and hold their ids', () => {
    // functions/deliver-event.ts goes by the ARN of the queue that feeds it.
    for (const template of [dev, prod]) {
      expect(logicalIdAt(template, 'Events/SlowDeliveries')).toContain('Slow')
      expect(logicalIdAt(template, 'Events/Deliveries')).not.toContain('Slow')
    }
    expect(['dev', 'prod'].filter((stage) => stackName(stage).includes('Slow'))).toEqual([])
    // CloudFormation cuts longer ones, of at most 80 characters with 13 of its own.
    expect(`${stackName('prod')}-${logicalIdAt(prod, 'Events/SlowDeliveries')}`.length).toBeLessThanOrEqual(
      66,
    )
  })
})

describe('mail', () => {
  it('goes out over TLS only, and not again to who bounced or complained', () => {
    dev.resourceCountIs('AWS::SES::ConfigurationSet', 1)
    dev.hasResourceProperties('AWS::SES::ConfigurationSet', {
      DeliveryOptions: { TlsPolicy: 'REQUIRE' },
      ReputationOptions: { ReputationMetricsEnabled: true },
      SuppressionOptions: { SuppressedReasons: ['BOUNCE', 'COMPLAINT'] },
      TrackingOptions: Match.absent(),
    })
  })

  it('is told of on the account’s own bus; opens and clicks are nobody’s business', () => {
    dev.resourceCountIs('AWS::SES::ConfigurationSetEventDestination', 1)
    dev.hasResourceProperties('AWS::SES::ConfigurationSetEventDestination', {
      ConfigurationSetName: refTo('Messaging/Mail'),
      EventDestination: {
        Enabled: true,
        EventBridgeDestination: { EventBusArn: arn('events', ':event-bus/default') },
        MatchingEventTypes: ['send', 'delivery', 'bounce', 'complaint', 'reject'],
      },
    })
  })

  type Rule = {
    EventPattern?: { detail: { eventType: string[] } }
    Targets: { Arn: unknown; InputTransformer: { InputPathsMap: object; InputTemplate: string } }[]
  }
  const rules = Object.values(resourcesOf(dev, 'AWS::Events::Rule'))
    .map(({ Properties }) => Properties as unknown as Rule)
    .filter(({ EventPattern }) => EventPattern)

  it('of this configuration set is heard of, each kind by a rule of its own', () => {
    expect(rules.map(({ EventPattern }) => EventPattern)).toEqual(
      ['Send', 'Delivery', 'Bounce', 'Complaint', 'Reject'].map((eventType) => ({
        source: ['aws.ses'],
        detail: {
          eventType: [eventType],
          mail: { tags: { 'ses:configuration-set': [refTo('Messaging/Mail')] } },
        },
      })),
    )
  })

  it('passes on ids and types, never an address, a subject or what a server said', () => {
    const ALLOWED = [
      '$.detail.mail.tags.clinic',
      '$.detail.mail.tags.message',
      '$.detail.mail.messageId',
      '$.time',
      '$.detail.bounce.bounceType',
      '$.detail.bounce.bounceSubType',
    ]
    for (const { Targets, EventPattern } of rules) {
      expect(Targets.map(({ Arn }) => Arn)).toEqual([arnOf('Messaging/Feedback')])
      for (const target of Targets) {
        // Without a transformer, or with another input, the event itself would be passed on.
        expect(Object.keys(target).sort()).toEqual(['Arn', 'Id', 'InputTransformer'])
        const { InputPathsMap, InputTemplate } = target.InputTransformer
        const used = Object.values(InputPathsMap) as string[]
        expect(used.filter((path) => !ALLOWED.includes(path))).toEqual([])
        const filled = InputTemplate.replace(/<([^>]+)>/g, (_, name) => {
          expect(InputPathsMap).toHaveProperty([name])
          return JSON.stringify(name)
        })
        expect(JSON.parse(filled)).toMatchObject({ event: EventPattern?.detail.eventType[0] })
      }
    }
  })

  it('is told of by those rules, and by nobody else', () => {
    const policies = Object.values(resourcesOf(dev, 'AWS::SQS::QueuePolicy')).map(
      ({ Properties }) => Properties as unknown as { PolicyDocument: { Statement: Statement[] } },
    )
    const allowed = policies
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .filter((statement) => (statement as { Effect?: string }).Effect === 'Allow')
    expect(allowed).toEqual(
      ['Send', 'Delivery', 'Bounce', 'Complaint', 'Reject'].map((kind) => ({
        Effect: 'Allow',
        Principal: { Service: 'events.amazonaws.com' },
        Action: expect.arrayContaining(['sqs:SendMessage']),
        Resource: arnOf('Messaging/Feedback'),
        Condition: { ArnEquals: { 'aws:SourceArn': arnOf(`Messaging/${kind}Rule`) } },
      })),
    )
  })
})

describe('the receipts of SMS', () => {
  const receipts = Template.fromStack(receiptsStackOf('dev'))
  const groups = resourcesOf(receipts, 'AWS::Logs::LogGroup')

  it('are kept for a day, under the names that SNS writes to', () => {
    const named = (outcome: string) => ({
      LogGroupName: {
        'Fn::Join': [
          '',
          [
            'sns/',
            { Ref: 'AWS::Region' },
            '/',
            { Ref: 'AWS::AccountId' },
            `/DirectPublishToPhoneNumber${outcome}`,
          ],
        ],
      },
      RetentionInDays: 1,
    })
    expect(Object.values(groups)).toEqual(
      ['', '/Failure'].map((outcome) =>
        expect.objectContaining({ Properties: named(outcome), DeletionPolicy: 'Delete' }),
      ),
    )
  })

  it('all go to the one function that reads them, which they may invoke', () => {
    const imported = { 'Fn::ImportValue': expect.stringMatching(/smsreceiptsFunction/) }
    const of = (type: string) =>
      Object.values(resourcesOf(receipts, type)).map(({ Properties }) => Properties)
    expect(of('AWS::Logs::SubscriptionFilter')).toEqual(
      Object.keys(groups).map((id) => ({
        DestinationArn: imported,
        FilterPattern: '',
        LogGroupName: { Ref: id },
      })),
    )
    expect(of('AWS::Lambda::Permission')).toEqual(
      Object.keys(groups).map((id) => ({
        Action: 'lambda:InvokeFunction',
        FunctionName: imported,
        Principal: 'logs.amazonaws.com',
        SourceArn: { 'Fn::GetAtt': [id, 'Arn'] },
      })),
    )
  })

  it('are switched on for the whole account with the stack, and off with it', () => {
    const [role] = Object.keys(resourcesOf(receipts, 'AWS::IAM::Role'))
    const [{ Properties } = { Properties: {} }] = Object.values(resourcesOf(receipts, 'Custom::AWS'))
    const called = (when: 'Create' | 'Update' | 'Delete') => {
      const written = (Properties as unknown as Record<string, { 'Fn::Join': [string, unknown[]] }>)[when]
      const parts = written?.['Fn::Join'][1] ?? []
      return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'ROLE')).join(''))
    }
    const set = (rate: string) => ({
      service: 'SNS',
      action: 'setSMSAttributes',
      parameters: {
        attributes: { DeliveryStatusIAMRole: 'ROLE', DeliveryStatusSuccessSamplingRate: rate },
      },
    })
    expect(called('Create')).toMatchObject(set('100'))
    expect(called('Update')).toMatchObject(set('100'))
    expect(called('Delete')).toMatchObject(set('0'))
    expect(JSON.stringify(Properties)).toContain(`{"Fn::GetAtt":["${role}","Arn"]}`)
  })

  it('are written by SNS, into these groups only', () => {
    receipts.hasResourceProperties('AWS::IAM::Role', {
      AssumeRolePolicyDocument: {
        Statement: [
          { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'sns.amazonaws.com' } },
        ],
      },
      ManagedPolicyArns: Match.absent(),
    })
    const grants = Object.values(resourcesOf(receipts, 'AWS::IAM::Policy')).flatMap(
      ({ Properties }) =>
        (Properties as unknown as { PolicyDocument: { Statement: Statement[] } }).PolicyDocument.Statement,
    )
    const write = { Effect: 'Allow', Action: ['logs:CreateLogStream', 'logs:PutLogEvents'] }
    expect(grants.filter(({ Action }) => Action.includes('logs:PutLogEvents'))).toEqual(
      Object.keys(groups).map((id) => ({ ...write, Resource: { 'Fn::GetAtt': [id, 'Arn'] } })),
    )
  })

  it('are of no concern to the service itself: without them it is the same, but for what it exports', () => {
    const text = JSON.stringify(dev.toJSON())
    expect(text).not.toMatch(/SubscriptionFilter|SetSMSAttributes|DirectPublishToPhoneNumber/i)
  })
})

it.each(['dev', 'prod'])('names nothing of the local stack (%s)', (stage) => {
  const text = JSON.stringify(stage === 'dev' ? dev.toJSON() : prod.toJSON())
  expect(text).not.toMatch(
    /AWS_ENDPOINT|127\.0\.0\.1|localhost|elasticmq|fauxqs|dynoxide|NODE_OPTIONS|ALLOWED_WEBHOOK_HOST|000000000000/i,
  )
})

it('names the stages there are when asked for another', () => {
  expect(() => stageSettings('staging')).toThrow(
    'There is no stage "staging". Choose one with -c stage=dev|prod.',
  )
})

describe('the senders’ names', () => {
  it('are what the deployment says', () => {
    const { messaging } = stageSettings('prod', { emailFrom: 'mail@praxis-nord.de', smsSenderId: 'Praxis1' })
    expect(messaging).toMatchObject({ emailFrom: 'mail@praxis-nord.de', smsSenderId: 'Praxis1' })
  })

  it.each([
    '',
    'clinic',
    'clinic@',
    '@example.com',
    'a@b@example.com',
    'a b@example.com',
    ' clinic@example.com',
    'clinic@example.com\n',
    'Praxis<mail@example.com>',
    'a@example.com,b@example.com',
    '*@example.com',
  ])('are refused: %j as the address of mail', (emailFrom) => {
    expect(() => stageSettings('dev', { emailFrom })).toThrow(/^emailFrom is no address/)
  })

  it.each(['', 'TwelveLetter', 'Praxis Nord', 'Zahnärzte', 'Praxis-1', '+4930123456', 'Praxis\n', '12345'])(
    'are refused: %j as the sender of SMS',
    (smsSenderId) => {
      expect(() => stageSettings('dev', { smsSenderId })).toThrow(/^smsSenderId must have/)
    },
  )
})
