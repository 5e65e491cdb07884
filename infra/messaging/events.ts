import { Construct } from 'constructs'
import { pushGrant } from '../functions/grants.ts'
import { deliveryQueueAccess } from '../functions/service-access.ts'
import { WorkerFunctions, type WorkerProps } from '../functions/worker-functions.ts'
import { consumedQueue, deadLetterQueue } from './queues.ts'

/**
 * Delivers events to webhooks. A write announces its event in its own transaction; the table's stream invokes the
 * fan-out, which creates the deliveries; queues carry those to the function that attempts them. Sweeps run every
 * minute for retries and for what a crash left behind.
 */
export class Events extends Construct {
  constructor(scope: Construct, id: string, props: WorkerProps) {
    super(scope, id)
    const { stage, data } = props
    const quick = consumedQueue(this, 'Deliveries', stage, 'deliveries')
    // The slow queue is for webhook endpoints that fail or respond slowly.
    const slow = consumedQueue(this, 'SlowDeliveries', stage, 'slow-deliveries')
    // Clinics that announced more events than fit into the first turn of the fan-out.
    const fanOuts = consumedQueue(this, 'FanOuts', stage, 'fan-outs')
    const services = {
      ...deliveryQueueAccess(quick, slow),
      'fan-out-queue': {
        environment: { FAN_OUT_QUEUE_URL: fanOuts.queueUrl },
        grant: () => pushGrant(fanOuts),
      },
    }

    const workers = new WorkerFunctions(this, 'events', { ...props, services })
    // Positions of the stream that the fan-out failed at.
    const failedFanOuts = deadLetterQueue(this, 'FailedFanOuts', stage, 'failed-fan-outs')
    workers.followStream(data.table, failedFanOuts)
    workers.consume('fan-outs', fanOuts)
    workers.consume('deliveries', quick)
    workers.consume('slow-deliveries', slow)
    workers.everyMinute()
  }
}
