import { sweepDeliveries } from '../../shared/delivery/webhooks/sweep-deliveries.ts'
import { sweepWorker } from '../../shared/runtime/sweep.ts'
import { openDeliveryQueues } from '../../shared/runtime/webhooks.ts'
import { sweepDeliveriesWorker } from '../../shared/runtime/workers.ts'
import { dueDeliveries } from '../../shared/store/events/due-deliveries.ts'
import { DUE_DELIVERY_PARTITIONS } from '../../shared/store/keys/webhooks.ts'
import { pausedClinics } from '../../shared/store/paused-clinics.ts'

/** Runs every minute, in parts. Queues the deliveries that are due, of all clinics. */
export const handler = sweepWorker(
  sweepDeliveriesWorker,
  { due: dueDeliveries, queues: openDeliveryQueues, clinics: pausedClinics },
  ({ due, queues, clinics }, { now, partitionsOf, reportLag }) => {
    const partitions = partitionsOf(DUE_DELIVERY_PARTITIONS)
    const dueBatches = (until: number, size: number) =>
      clinics.withoutPaused(due.dueBatches(until, size, partitions))
    return sweepDeliveries({ deliveries: { ...due, dueBatches }, queues, now, reportLag })
  },
)
