import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import type { ClinicId } from '../../domain/clinic.ts'

/** Clinics whose events need more than one turn of the fan-out. First in, first out for each clinic, one at a time. */
export type FanOutQueue = ReturnType<typeof fanOutQueue>

const Body = z.strictObject({ clinic: z.uuid() })

/**
 * Parses a queued message.
 * @throws SyntaxError or ZodError if it is malformed
 */
export const readQueuedFanOut = (body: string): ClinicId => Body.parse(JSON.parse(body)).clinic as ClinicId

export function fanOutQueue(client: SQSClient, url: string, newId: () => string) {
  /** Queues a further turn for the clinic. */
  async function push(clinic: ClinicId): Promise<void> {
    await client.send(
      new SendMessageCommand({
        QueueUrl: url,
        MessageBody: JSON.stringify({ clinic }),
        // Two turns of a clinic at the same time would collide at its head of events.
        MessageGroupId: clinic,
        // The id is never repeated: events may have been announced since the turn that an earlier message asked for.
        MessageDeduplicationId: newId(),
      }),
    )
  }
  return { push }
}
