import type { DynamoDBStreamEvent } from 'aws-lambda'
import { openDeliveryQueues } from '../shared/runtime/webhooks.ts'
import { worker } from '../shared/runtime/worker.ts'
import { eventFanOut } from '../shared/store/event-fan-out.ts'
import { announcedOf } from '../shared/store/keys.ts'

/** Called by the table's stream for each announced event; a clinic's are seen to all at once. */
export const handler = worker(
  'fan-out-events',
  { events: eventFanOut, queues: openDeliveryQueues },
  async ({ Records }: DynamoDBStreamEvent, { events, queues }) => {
    const clinics = new Set(
      Records.map(({ dynamodb }) => announcedOf({ pk: '', sk: dynamodb?.Keys?.sk?.S ?? '' }).clinic),
    )
    const failures: unknown[] = []
    // One that cannot be helped holds up none of the others.
    for (const clinic of clinics)
      await events.fanOut(clinic, (made) => queues.push('quick', made)).catch((error) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  },
)
