import type { DynamoDBStreamEvent } from 'aws-lambda'
import { settleAll } from '../shared/delivery/settle-all.ts'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { worker } from '../shared/runtime/worker.ts'
import { fanOutEventsWorker } from '../shared/runtime/workers.ts'
import { eventFanOut } from '../shared/store/events/fan-out.ts'
import { parseAnnouncedKey } from '../shared/store/keys/events.ts'

/** Clinics at a time: one with many events does not hold up the others. */
const CONCURRENCY = 8

/** Runs for batches of the table's stream. The announced events of each clinic are processed together. */
export const handler = worker(
  fanOutEventsWorker,
  { events: eventFanOut, queues: openDeliveryQueues },
  async ({ Records }: DynamoDBStreamEvent, { events, queues }) => {
    const clinics = new Set(
      Records.map(({ dynamodb }) => parseAnnouncedKey({ sk: dynamodb?.Keys?.sk?.S ?? '' }).clinic),
    )
    await settleAll(
      clinics,
      (clinic) => events.fanOut(clinic, (created) => queues.push('quick', created)),
      CONCURRENCY,
    )
  },
)
