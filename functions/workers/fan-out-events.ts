import type { DynamoDBStreamEvent } from 'aws-lambda'
import { fanOutClinics } from '../../shared/delivery/webhooks/fan-out-clinics.ts'
import { openDeliveryQueues } from '../../shared/runtime/webhooks.ts'
import { worker } from '../../shared/runtime/worker.ts'
import { fanOutEventsWorker } from '../../shared/runtime/workers.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { parseAnnouncedKey } from '../../shared/store/keys/events.ts'

/** Runs for batches of the table's stream. The announced events of each clinic are processed together. */
export const handler = worker(
  fanOutEventsWorker,
  { events: eventFanOut, queues: openDeliveryQueues },
  async ({ Records }: DynamoDBStreamEvent, stores) => {
    const clinics = new Set(
      Records.map(({ dynamodb }) => parseAnnouncedKey({ sk: dynamodb?.Keys?.sk?.S ?? '' }).clinic),
    )
    await fanOutClinics(stores, clinics)
  },
)
