import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import type { ClinicId } from '../../domain/clinic.ts'

/** An email to send. The queue carries ids only, so it holds no patient data. */
export type QueuedEmail = {
  readonly clinic: ClinicId
  readonly message: string
  /** How often it was queued again because SES or the store was unavailable. */
  readonly waits: number
  /** The request that created the message, for log lines; a sweep does not know it. */
  readonly request?: string
}

export type EmailQueue = ReturnType<typeof emailQueue>

const Body = z.lazy(() =>
  z.strictObject({
    clinic: z.uuid(),
    message: z.uuid(),
    waits: z.int().min(0),
    request: z.string().optional(),
  }),
)

/**
 * Parses a queued message.
 * @throws SyntaxError or ZodError if it is malformed; such a message belongs in the dead-letter queue
 */
export const readQueuedEmail = (body: string): QueuedEmail => Body.parse(JSON.parse(body)) as QueuedEmail

export function emailQueue(client: SQSClient, url: string) {
  /** Queues an email. SQS allows a delay of at most 15 minutes. */
  async function push(email: QueuedEmail, delaySeconds = 0): Promise<void> {
    await client.send(
      new SendMessageCommand({
        QueueUrl: url,
        MessageBody: JSON.stringify(email),
        // A fair queue: a clinic with a backlog delays its own emails, not the emails of other clinics.
        MessageGroupId: email.clinic,
        ...(delaySeconds > 0 && { DelaySeconds: delaySeconds }),
      }),
    )
  }
  return { push }
}
