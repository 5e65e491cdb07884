import { Construct } from 'constructs'
import { pushGrant } from '../functions/grants.ts'
import { WorkerFunctions, type WorkerProps } from '../functions/worker-functions.ts'
import { consumedQueue } from './queues.ts'

/**
 * Refreshes copied names, and runs what operators start for the whole table: verification, migration, and the reconciliation of a
 * restored table.
 */
export class Maintenance extends Construct {
  constructor(scope: Construct, id: string, props: WorkerProps) {
    super(scope, id)
    const queue = consumedQueue(this, 'Runs', props.stage, 'maintenance')
    const services = {
      'maintenance-queue': {
        environment: { MAINTENANCE_QUEUE_URL: queue.queueUrl },
        grant: () => pushGrant(queue),
      },
    }
    const workers = new WorkerFunctions(this, 'maintenance', { ...props, services })
    workers.everyMinute()
    workers.consume('maintenance', queue)
  }
}
