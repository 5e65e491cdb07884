import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { QueuedRun } from './runs.ts'

/** Queues what is left of a run, or all of it. */
export const maintenanceQueue =
  (client: SQSClient, url: string) =>
  async (queued: QueuedRun): Promise<void> => {
    await client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: JSON.stringify(queued) }))
  }
