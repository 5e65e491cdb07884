import { sweepEvents } from '../shared/delivery/fan-out-clinics.ts'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { worker } from '../shared/runtime/worker.ts'
import { sweepEventsWorker } from '../shared/runtime/workers.ts'
import { eventFanOut } from '../shared/store/events/fan-out.ts'

/** Runs every minute. Fans out the events that the stream lost, or left over. */
export const handler = worker(
  sweepEventsWorker,
  { events: eventFanOut, queues: openDeliveryQueues },
  (_event: unknown, stores, { now }) => sweepEvents({ ...stores, now }),
)
