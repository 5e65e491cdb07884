import { continueFanOut } from '../../shared/delivery/webhooks/fan-out-clinics.ts'
import { readQueuedFanOut } from '../../shared/delivery/webhooks/fan-out-queue.ts'
import { openDeliveryQueues, openFanOutQueue } from '../../shared/runtime/webhooks.ts'
import { queueWorker } from '../../shared/runtime/worker.ts'
import { continueFanOutWorker } from '../../shared/runtime/workers.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'

/** Consumes the queue of clinics that announced more events than fit into the first turn of the fan-out. */
export const handler = queueWorker(
  continueFanOutWorker,
  { events: eventFanOut, queues: openDeliveryQueues, later: openFanOutQueue },
  ({ body }, stores) => continueFanOut(stores, readQueuedFanOut(body)),
)
