import { Duration } from 'aws-cdk-lib'
import { FilterCriteria, FilterRule, type Function as Lambda, StartingPosition } from 'aws-cdk-lib/aws-lambda'
import { DynamoEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import type { TableCall } from '../shared/api/route.ts'
import { ANNOUNCED_PARTITION_PREFIX } from '../shared/store/keys/events.ts'
import type { FunctionCode } from './bundles.ts'
import type { Data } from './data.ts'
import { everyMinute } from './every-minute.ts'
import { keyGrant, pushGrant, tableGrant } from './grants.ts'
import { addConsumer, queueWithDeadLetters } from './queues.ts'
import { ServiceFunction } from './service-function.ts'
import type { StageSettings } from './stages.ts'

/** The files in functions/ that move events; no request starts them. */
export const EVENT_WORKERS = ['fan-out-events', 'deliver-event', 'sweep-events'] as const

/** An attempt takes up to 15 s, and a record's earlier events are attempted before. */
const DELIVERY_TIMEOUT = Duration.seconds(60)

type Props = { readonly stage: StageSettings; readonly code: FunctionCode; readonly data: Data }

/**
 * Events on their way: announced in their record's transaction, the stream tells of them, the fan-out makes deliveries, a
 * queue carries those to the function that attempts them. Every minute a sweep looks after retries and what was left behind.
 */
export class Events extends Construct {
  readonly deliveries: Queue
  readonly deadDeliveries: Queue
  /** For endpoints that fail or take their time, and for retries. */
  readonly slowDeliveries: Queue
  readonly deadSlowDeliveries: Queue
  readonly queueEnvironment: Record<string, string>
  readonly #props: Props

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    this.#props = props
    const quick = queueWithDeadLetters(this, 'Deliveries', DELIVERY_TIMEOUT)
    this.deliveries = quick.queue
    this.deadDeliveries = quick.deadLetters
    const slow = queueWithDeadLetters(this, 'SlowDeliveries', DELIVERY_TIMEOUT)
    this.slowDeliveries = slow.queue
    this.deadSlowDeliveries = slow.deadLetters
    this.queueEnvironment = {
      DELIVERY_QUEUE_URL: quick.queue.queueUrl,
      SLOW_DELIVERY_QUEUE_URL: slow.queue.queueUrl,
    }
    this.#fanOut()
    this.#deliver()
    this.#sweep()
  }

  /** What fails three times is swept: an announced event stays until it has its place. */
  #fanOut(): void {
    const { table } = this.#props.data
    const lambda = this.#worker('fan-out-events', FAN_OUT_CALLS, Duration.minutes(1), [this.deliveries])
    lambda.addEventSource(
      new DynamoEventSource(table, {
        startingPosition: StartingPosition.TRIM_HORIZON,
        batchSize: 100,
        parallelizationFactor: 4,
        retryAttempts: 3,
        filters: [
          FilterCriteria.filter({
            eventName: FilterRule.isEqual('INSERT'),
            dynamodb: { Keys: { pk: { S: FilterRule.beginsWith(ANNOUNCED_PARTITION_PREFIX) } } },
          }),
        ],
      }),
    )
  }

  #deliver(): void {
    const calls: TableCall[] = ['BatchGetItem', 'GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem']
    const lambda = this.#worker('deliver-event', calls, DELIVERY_TIMEOUT)
    addConsumer(lambda, this.deliveries, { maxConcurrency: 50 })
    addConsumer(lambda, this.slowDeliveries, { maxConcurrency: 20 })
  }

  #sweep(): void {
    const lambda = this.#worker('sweep-events', [...FAN_OUT_CALLS, 'BatchWriteItem'], Duration.minutes(1))
    everyMinute(this, lambda)
  }

  #worker(
    id: (typeof EVENT_WORKERS)[number],
    calls: readonly TableCall[],
    timeout: Duration,
    queues: readonly Queue[] = [this.deliveries, this.slowDeliveries],
  ): Lambda {
    const { stage, code, data } = this.#props
    const { lambda } = new ServiceFunction(this, id, {
      stage,
      code,
      timeout,
      environment: { TABLE_NAME: data.table.tableName, ...this.queueEnvironment },
      grants: [tableGrant(data, calls, { delivers: true }), keyGrant(this, data), ...queues.map(pushGrant)],
    })
    return lambda
  }
}

const FAN_OUT_CALLS: readonly TableCall[] = ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem']
