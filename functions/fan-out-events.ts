import type { DynamoDBStreamEvent } from 'aws-lambda'
import { allTried } from '../shared/delivery/all-tried.ts'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { worker } from '../shared/runtime/worker.ts'
import { eventFanOut } from '../shared/store/events/fan-out.ts'
import { announcedOf } from '../shared/store/keys/events.ts'

/** Called by the table's stream for each announced event; a clinic's are seen to all at once. */
export const handler = worker(
  'fan-out-events',
  { events: eventFanOut, queues: openDeliveryQueues },
  async ({ Records }: DynamoDBStreamEvent, { events, queues }) => {
    const clinics = new Set(
      Records.map(({ dynamodb }) => announcedOf({ pk: '', sk: dynamodb?.Keys?.sk?.S ?? '' }).clinic),
    )
    await allTried(clinics, (clinic) => events.fanOut(clinic, (made) => queues.push('quick', made)))
  },
)
