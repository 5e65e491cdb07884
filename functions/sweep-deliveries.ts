import { sweepDeliveries } from '../shared/delivery/sweep-deliveries.ts'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { worker } from '../shared/runtime/worker.ts'
import { sweepDeliveriesWorker } from '../shared/runtime/workers.ts'
import { dueDeliveries } from '../shared/store/events/due-deliveries.ts'

/** Runs every minute. Queues the deliveries that are due, of all clinics. */
export const handler = worker(
  sweepDeliveriesWorker,
  { deliveries: dueDeliveries, queues: openDeliveryQueues },
  (_event: unknown, { deliveries, queues }, { now }) => sweepDeliveries({ deliveries, queues, now }),
)
