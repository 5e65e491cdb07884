import { Construct } from 'constructs'
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
    // Only for webhook endpoints that respond slowly.
    const slow = consumedQueue(this, 'SlowDeliveries', stage, 'slow-deliveries')
    const services = deliveryQueueAccess(quick, slow)
    const workers = new WorkerFunctions(this, 'events', { ...props, services })
    // Positions of the stream that the fan-out failed at.
    const failedFanOuts = deadLetterQueue(this, 'FailedFanOuts', stage, 'failed-fan-outs')
    workers.followStream(data.table, failedFanOuts)
    workers.consume('deliveries', quick)
    workers.consume('slow-deliveries', slow)
    workers.everyMinute()
  }
}
