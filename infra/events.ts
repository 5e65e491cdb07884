import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import type { FunctionCode } from './bundles.ts'
import type { Data } from './data.ts'
import { pushGrant } from './grants.ts'
import { alarmOnMessages } from './observability.ts'
import { deadLetterQueue, queueWithDeadLetters } from './queues.ts'
import type { Services } from './service-access.ts'
import type { StageSettings } from './stages.ts'
import { consumerTimeout, WorkerFunctions } from './worker-functions.ts'

type Props = { readonly stage: StageSettings; readonly code: FunctionCode; readonly data: Data }

/**
 * Delivers events to webhooks. A write announces its event in its own transaction; the table's stream invokes the
 * fan-out, which creates the deliveries; queues carry those to the function that attempts them. Sweeps run every
 * minute for retries and for what a crash left behind.
 */
export class Events extends Construct {
  readonly deliveries: Queue
  readonly deadDeliveries: Queue
  /** For receivers that fail or respond slowly. */
  readonly slowDeliveries: Queue
  readonly deadSlowDeliveries: Queue
  /** Positions of the stream that the fan-out failed at. The sweep processes their events. */
  readonly failedFanOuts: Queue
  /** Clinics that announced more events than fit into the first turn of the fan-out. */
  readonly fanOuts: Queue
  readonly deadFanOuts: Queue
  readonly services: Services

  constructor(scope: Construct, id: string, { stage, code, data }: Props) {
    super(scope, id)
    const quick = queueWithDeadLetters(this, 'Deliveries', consumerTimeout('deliveries'))
    this.deliveries = quick.queue
    this.deadDeliveries = quick.deadLetters
    const slow = queueWithDeadLetters(this, 'SlowDeliveries', consumerTimeout('slow-deliveries'))
    this.slowDeliveries = slow.queue
    this.deadSlowDeliveries = slow.deadLetters
    const fanOuts = queueWithDeadLetters(this, 'FanOuts', consumerTimeout('fan-outs'), { fifo: true })
    this.fanOuts = fanOuts.queue
    this.deadFanOuts = fanOuts.deadLetters
    const environment = {
      DELIVERY_QUEUE_URL: quick.queue.queueUrl,
      SLOW_DELIVERY_QUEUE_URL: slow.queue.queueUrl,
    }
    this.services = {
      'delivery-queue': { environment, grant: () => pushGrant(quick.queue) },
      'slow-delivery-queue': { environment, grant: () => pushGrant(slow.queue) },
      'fan-out-queue': {
        environment: { FAN_OUT_QUEUE_URL: fanOuts.queue.queueUrl },
        grant: () => pushGrant(fanOuts.queue),
      },
    }

    const workers = new WorkerFunctions(this, 'events', { stage, code, data, services: this.services })
    this.failedFanOuts = deadLetterQueue(this, 'FailedFanOuts')
    alarmOnMessages(
      this,
      'FanOutAlarm',
      this.failedFanOuts,
      'The fan-out failed at a batch of the stream. The sweep of events processes it: see docs/webhooks.md.',
    )
    workers.followStream(data.table, this.failedFanOuts)
    workers.consume('fan-outs', fanOuts.queue)
    workers.consume('deliveries', quick.queue)
    workers.consume('slow-deliveries', slow.queue)
    workers.everyMinute()
  }
}
