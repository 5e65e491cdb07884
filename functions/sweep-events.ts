import { settleAll } from '../shared/delivery/settle-all.ts'
import { sweepDeliveries } from '../shared/delivery/sweep-deliveries.ts'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { worker } from '../shared/runtime/worker.ts'
import { sweepEventsWorker } from '../shared/runtime/workers.ts'
import { dueDeliveries } from '../shared/store/events/due-deliveries.ts'
import { eventFanOut } from '../shared/store/events/fan-out.ts'

/** Runs every minute. Fans out the events that the stream lost, and queues the deliveries that are due. */
export const handler = worker(
  sweepEventsWorker,
  { events: eventFanOut, deliveries: dueDeliveries, queues: openDeliveryQueues },
  async (_event: unknown, { events, deliveries, queues }, { now }) => {
    const fanOuts = (await events.clinicsWithAnnounced()).map(
      (clinic) => () => events.fanOut(clinic, (created) => queues.push('quick', created)),
    )
    await settleAll([...fanOuts, () => sweepDeliveries({ deliveries, queues, now })], (step) => step())
  },
)
