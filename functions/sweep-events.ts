import { sweepDeliveries } from '../shared/delivery/sweep-deliveries.ts'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { worker } from '../shared/runtime/worker.ts'
import { deliveryStore } from '../shared/store/deliveries.ts'
import { eventFanOut } from '../shared/store/event-fan-out.ts'

/** Every minute, over all clinics: events that the stream lost, and deliveries whose time has come. */
export const handler = worker(
  'sweep-events',
  { events: eventFanOut, log: deliveryStore, queues: openDeliveryQueues },
  async (_event: unknown, { events, log, queues }, { now }) => {
    const failures: unknown[] = []
    const note = (error: unknown) => failures.push(error)
    // What cannot be helped holds up none of the rest.
    for (const clinic of await events.waiting())
      await events.fanOut(clinic, (made) => queues.push('quick', made)).catch(note)
    await sweepDeliveries({ log, queues, now }).catch(note)
    if (failures.length > 0) throw failures[0]
  },
)
