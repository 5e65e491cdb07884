import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import type { ClinicId } from '../domain/clinic.ts'

/** An email to be sent, as the queue carries it: ids only, so that no queue holds anything of a patient. */
export type QueuedEmail = {
  readonly clinic: ClinicId
  readonly message: string
  /** How often it was put back because SES did not take anything. */
  readonly waits: number
}

export type EmailQueue = ReturnType<typeof emailQueue>

const Body = z.strictObject({ clinic: z.uuid(), message: z.uuid(), waits: z.int().min(0) })

/** @throws SyntaxError or ZodError for what is no such message: it belongs to the dead letters */
export const readQueuedEmail = (body: string): QueuedEmail => Body.parse(JSON.parse(body)) as QueuedEmail

export function emailQueue(client: SQSClient, url: string) {
  /** SQS itself holds a message back for at most 15 minutes. */
  async function push(email: QueuedEmail, delaySeconds = 0): Promise<void> {
    await client.send(
      new SendMessageCommand({
        QueueUrl: url,
        MessageBody: JSON.stringify(email),
        ...(delaySeconds > 0 && { DelaySeconds: delaySeconds }),
      }),
    )
  }
  return { push }
}
