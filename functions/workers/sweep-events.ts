import { sweepEvents } from '../../shared/delivery/webhooks/fan-out-clinics.ts'
import { sweepWorker } from '../../shared/runtime/sweep.ts'
import { openDeliveryQueues } from '../../shared/runtime/webhooks.ts'
import { sweepEventsWorker } from '../../shared/runtime/workers.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { ALL_ANNOUNCED_PARTITIONS } from '../../shared/store/keys/events.ts'

/** Runs every minute, in parts. Fans out the events that the stream lost, or left over. */
export const handler = sweepWorker(
  sweepEventsWorker,
  { fanOut: eventFanOut, queues: openDeliveryQueues },
  ({ fanOut, queues }, { now, partitionsOf, reportLag }) => {
    const partitions = partitionsOf(ALL_ANNOUNCED_PARTITIONS)
    const clinicsWithAnnounced: typeof fanOut.clinicsWithAnnounced = (search) =>
      fanOut.clinicsWithAnnounced({ ...search, partitions })
    return sweepEvents({ events: { ...fanOut, clinicsWithAnnounced }, queues, now, reportLag })
  },
)
