import { describe, expect, it } from 'vitest'
import { queueName } from '../../../infra/settings/names.ts'
import { WORKERS } from '../../../shared/runtime/workers.ts'
import * as eventKeys from '../../../shared/store/keys/events.ts'
import { logicalIdAt, resourceOfFunction, resourcesOf } from '../../support/template.ts'
import { arnOf, dev, environmentOf, imported, queueUrl, refTo } from '../stacks/expected-template.ts'

type Worker = { timeout: number; environment: object }

const stream = imported('TableStreamArn')

const deliveryQueues = {
  DELIVERY_QUEUE_URL: refTo('Events/Deliveries'),
  SLOW_DELIVERY_QUEUE_URL: refTo('Events/SlowDeliveries'),
}

const workers: Record<string, Worker> = {
  'send-email': {
    timeout: 75,
    environment: {
      EMAIL_QUEUE_URL: refTo('Messaging/Emails'),
      EMAIL_FROM: 'clinic@example.com',
      EMAIL_CONFIGURATION_SET: refTo('Messaging/Mail'),
      EMAILS_PER_SECOND: '14',
    },
  },
  'email-feedback': { timeout: 15, environment: {} },
  'sms-receipts': { timeout: 60, environment: {} },
  'sweep-messages': { timeout: 60, environment: { EMAIL_QUEUE_URL: refTo('Messaging/Emails') } },
  'fan-out-events': { timeout: 60, environment: deliveryQueues },
  'deliver-event': { timeout: 60, environment: deliveryQueues },
  'refresh-copies': { timeout: 60, environment: {} },
  'run-maintenance': { timeout: 900, environment: { MAINTENANCE_QUEUE_URL: refTo('Maintenance/Runs') } },
  'sweep-events': { timeout: 60, environment: deliveryQueues },
  'sweep-deliveries': { timeout: 60, environment: deliveryQueues },
}

describe('the workers', () => {
  const mappings = Object.values(resourcesOf(dev, 'AWS::Lambda::EventSourceMapping')).map(
    ({ Properties }) => Properties as { ScalingConfig?: object },
  )

  it('are those of the worker table', () => {
    expect(WORKERS.map(({ id }) => id).sort()).toEqual(Object.keys(workers).sort())
  })

  it.each(Object.entries(workers))('%s has exactly its timeout and environment', (id, worker) => {
    const { timeout, environment } = worker
    expect(resourceOfFunction(dev, 'AWS::Lambda::Function', id).Properties.Timeout).toBe(timeout)
    expect(environmentOf(dev, id)).toEqual({
      TABLE_NAME: imported('TableName'),
      STAGE: 'dev',
      ...environment,
    })
  })

  it('that consume queues report the failed messages of a batch', () => {
    const fed = (queue: string, id: string, MaximumConcurrency: number, BatchSize = 10) => ({
      EventSourceArn: arnOf(queue),
      FunctionName: refTo(`${id}/Function`),
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BatchSize,
      ScalingConfig: { MaximumConcurrency },
    })
    expect(mappings.filter(({ ScalingConfig }) => ScalingConfig)).toEqual(
      [
        fed('Messaging/Emails', 'Messaging/send-email', 2),
        fed('Messaging/Feedback', 'Messaging/email-feedback', 10),
        fed('Events/Deliveries', 'Events/deliver-event', 100),
        fed('Events/SlowDeliveries', 'Events/deliver-event', 100, 1),
        fed('Maintenance/Runs', 'Maintenance/run-maintenance', 2, 1),
      ].map((mapping) => expect.objectContaining(mapping)),
    )
  })

  it('may put messages back on the queue that feeds them as often as they need', () => {
    const functions = Object.entries(resourcesOf(dev, 'AWS::Lambda::Function'))
    const allowed = functions.flatMap(([id, { Properties }]) =>
      Properties?.RecursiveLoop === 'Allow' ? [id] : [],
    )
    const expected = ['Messaging/send-email', 'Events/deliver-event', 'Maintenance/run-maintenance'].map(
      (path) => logicalIdAt(dev, `${path}/Function`),
    )
    expect(allowed.sort()).toEqual(expected.sort())
  })

  it('follow the stream for inserted announced events only, from the oldest record', () => {
    const [mapping, ...more] = mappings.filter(({ ScalingConfig }) => !ScalingConfig)
    expect(more).toEqual([])
    expect(mapping).toMatchObject({
      EventSourceArn: stream,
      FunctionName: refTo('Events/fan-out-events/Function'),
      StartingPosition: 'TRIM_HORIZON',
      // A sweep processes what fails more often, so that it does not block later records.
      MaximumRetryAttempts: 3,
      ParallelizationFactor: 4,
      DestinationConfig: { OnFailure: { Destination: arnOf('Events/FailedFanOuts') } },
    })
    expect(mapping).not.toHaveProperty('BisectBatchOnFunctionError')
    const filters = (mapping as { FilterCriteria?: { Filters: { Pattern: string }[] } }).FilterCriteria
      ?.Filters
    expect(filters?.map(({ Pattern }) => JSON.parse(Pattern))).toEqual([
      { eventName: ['INSERT'], dynamodb: { Keys: { pk: { S: [{ prefix: 'due#event#' }] } } } },
    ])
    expect(eventKeys.ALL_ANNOUNCED_PARTITIONS.filter((pk) => !pk.startsWith('due#event#'))).toEqual([])
  })

  it.each([
    ['Messaging/sweep-messages', 2],
    ['Events/sweep-events', 4],
    ['Events/sweep-deliveries', 4],
    ['Maintenance/refresh-copies', 1],
  ])('%s runs every minute in %i parts, without retries by the schedule or by Lambda', (sweep, parts) => {
    dev.resourceCountIs('AWS::Lambda::EventInvokeConfig', 4)
    dev.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: refTo(`${sweep}/Function`),
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    })
    dev.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 minute)',
      State: 'ENABLED',
      Targets: Array.from({ length: parts }, (_, part) => ({
        Id: `Target${part}`,
        Arn: arnOf(`${sweep}/Function`),
        Input: JSON.stringify({ part, parts }),
        RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
      })),
    })
  })
})

describe('the queues', () => {
  type Queue = {
    QueueName: string
    RedrivePolicy?: { deadLetterTargetArn: unknown; maxReceiveCount: number }
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
    ['Maintenance/Runs', 'run-maintenance'],
  ])(
    '%s moves a message to its dead letters after five receives, none during a running invocation',
    (name, id) => {
      const queue = queues[logicalIdAt(dev, name)]?.Properties
      expect(queue).toMatchObject({
        RedrivePolicy: { deadLetterTargetArn: arnOf(`${name}Dead`), maxReceiveCount: 5 },
      })
      const { Timeout } = resourceOfFunction(dev, 'AWS::Lambda::Function', id).Properties as unknown as {
        Timeout: number
      }
      // Whatever takes a quarter of an hour is tried again a minute after that.
      expect(queue?.VisibilityTimeout).toBeGreaterThanOrEqual(Timeout === 900 ? 960 : 6 * Timeout)
      const dead = queues[logicalIdAt(dev, `${name}Dead`)]?.Properties
      // A message keeps its age when it becomes a dead letter.
      expect(dead?.MessageRetentionPeriod).toBe(14 * DAYS)
      expect(dead).not.toHaveProperty('RedrivePolicy')
    },
  )

  it('are those of emails, feedback, deliveries and maintenance with their dead letters, and of failed fan-outs, each with an output for the operator tool', () => {
    const outputs = {
      EmailQueueUrl: ['Messaging/Emails', 'emails'],
      DeadEmailQueueUrl: ['Messaging/EmailsDead', 'emails-dead'],
      FeedbackQueueUrl: ['Messaging/Feedback', 'feedback'],
      DeadFeedbackQueueUrl: ['Messaging/FeedbackDead', 'feedback-dead'],
      DeliveryQueueUrl: ['Events/Deliveries', 'deliveries'],
      DeadDeliveryQueueUrl: ['Events/DeliveriesDead', 'deliveries-dead'],
      SlowDeliveryQueueUrl: ['Events/SlowDeliveries', 'slow-deliveries'],
      DeadSlowDeliveryQueueUrl: ['Events/SlowDeliveriesDead', 'slow-deliveries-dead'],
      MaintenanceQueueUrl: ['Maintenance/Runs', 'maintenance'],
      DeadMaintenanceQueueUrl: ['Maintenance/RunsDead', 'maintenance-dead'],
      FailedFanOutQueueUrl: ['Events/FailedFanOuts', 'failed-fan-outs'],
    } as const
    for (const [output, [path, name]] of Object.entries(outputs)) {
      dev.hasOutput(output, { Value: queueUrl(name) })
      expect(queues[logicalIdAt(dev, path)]?.Properties.QueueName).toBe(`clinic-dev-${name}`)
    }
    const ids = Object.values(outputs).map(([path]) => logicalIdAt(dev, path))
    expect(Object.keys(queues).sort()).toEqual(ids.sort())
  })

  it('of slow deliveries, and no others, end in slow-deliveries', () => {
    // Workers tell the queues of one trigger apart by the ends of their ARNs.
    const names = Object.values(queues).map(({ Properties }) => Properties.QueueName)
    expect(names.filter((name) => name.endsWith('-slow-deliveries'))).toEqual([
      queueName('dev', 'slow-deliveries'),
    ])
  })
})
