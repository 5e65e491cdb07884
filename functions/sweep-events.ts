import { settleAll } from '../shared/delivery/settle-all.ts'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { worker } from '../shared/runtime/worker.ts'
import { sweepEventsWorker } from '../shared/runtime/workers.ts'
import { eventFanOut } from '../shared/store/events/fan-out.ts'

/** Clinics at a time: one with many events does not hold up the others. */
const CONCURRENCY = 8

/** Runs every minute. Fans out the events that the stream lost. */
export const handler = worker(
  sweepEventsWorker,
  { events: eventFanOut, queues: openDeliveryQueues },
  async (_event: unknown, { events, queues }) =>
    settleAll(
      await events.clinicsWithAnnounced(),
      (clinic) => events.fanOut(clinic, (created) => queues.push('quick', created)),
      CONCURRENCY,
    ),
)
