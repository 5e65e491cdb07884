import type { AttemptReport } from '../../shared/delivery/webhooks/attempt-outcome.ts'
import { deliverEvent } from '../../shared/delivery/webhooks/deliver-event.ts'
import { readQueuedDelivery } from '../../shared/delivery/webhooks/delivery-queues.ts'
import { DELIVERY_LEASE_MS } from '../../shared/domain/webhooks/delivery.ts'
import { openDeliveryQueues, openReceiverClock, openTransport } from '../../shared/runtime/webhooks.ts'
import { queueWorker } from '../../shared/runtime/worker.ts'
import { deliverEventWorker } from '../../shared/runtime/workers.ts'
import { deliveryAttempts } from '../../shared/store/events/delivery-attempts.ts'
import { webhookHealthStore } from '../../shared/store/events/webhook-health.ts'
import { webhookStore } from '../../shared/store/events/webhooks.ts'
import { UnavailableError } from '../../shared/store/table/errors.ts'

/** How long a delivery waits while the store is down: longer than the claim that this attempt may have left. */
const PAUSE_MS = DELIVERY_LEASE_MS + 5000

/** Consumes both delivery queues: the quick one, and the one of slow endpoints. */
export const handler = queueWorker(
  deliverEventWorker,
  {
    deliveries: deliveryAttempts,
    webhooks: webhookStore,
    health: webhookHealthStore,
    queues: openDeliveryQueues,
    transport: openTransport,
    receiverNow: openReceiverClock,
  },
  async ({ body, queue }, stores, { now, newId, count, logWork }) => {
    const queued = readQueuedDelivery(body)
    const deliveryQueue = deliverEventWorker.deliveryQueues[queue]
    try {
      const onAttempt = ({ clinic, requestId, ...facts }: AttemptReport): void => {
        if (facts.outcome !== 'cut-off') count('delivery_attempt', { outcome: facts.outcome })
        logWork(deliverEventWorker.id, { clinic, requestId, ...facts })
      }
      const consumer = { ...stores, now, random: Math.random, newToken: newId, onAttempt }
      await deliverEvent(consumer, queued, deliveryQueue)
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error
      count('table_unavailable', { worker: deliverEventWorker.id }, error)
      await stores.queues.push(deliveryQueue, [queued], PAUSE_MS)
    }
  },
)
