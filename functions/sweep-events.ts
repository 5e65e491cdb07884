import { allTried } from '../shared/delivery/all-tried.ts'
import { sweepDeliveries } from '../shared/delivery/sweep-deliveries.ts'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { worker } from '../shared/runtime/worker.ts'
import { deliveryStore } from '../shared/store/events/deliveries.ts'
import { eventFanOut } from '../shared/store/events/fan-out.ts'

/** Every minute, over all clinics: events that the stream lost, and deliveries whose time has come. */
export const handler = worker(
  'sweep-events',
  { events: eventFanOut, log: deliveryStore, queues: openDeliveryQueues },
  async (_event: unknown, { events, log, queues }, { now }) => {
    const fanOuts = (await events.waiting()).map(
      (clinic) => () => events.fanOut(clinic, (made) => queues.push('quick', made)),
    )
    await allTried([...fanOuts, () => sweepDeliveries({ log, queues, now })], (step) => step())
  },
)
