import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import type { DeliveryQueue, DeliveryReference } from '../../domain/webhooks/delivery.ts'
import { chunked } from '../../store/table/chunked.ts'
import { settleAll } from '../sweep-batches.ts'

export type DeliveryQueues = ReturnType<typeof deliveryQueues>

const Body = z.strictObject({ clinic: z.uuid(), webhook: z.uuid(), delivery: z.uuid() })

/**
 * Parses a queued message.
 * @throws SyntaxError or ZodError if it is malformed
 */
export const readQueuedDelivery = (body: string): DeliveryReference =>
  Body.parse(JSON.parse(body)) as DeliveryReference

/** Both are fair queues of SQS: a group with a backlog delays its own messages, not those of other groups. */
const GROUPS = { quick: 'clinic', slow: 'webhook' } as const

/** The limit of one SQS call. */
const MAX_BATCH_SIZE = 10

export function deliveryQueues(client: SQSClient, urls: Readonly<Record<DeliveryQueue, string>>) {
  /**
   * Sends the deliveries to the queue. A failed batch does not stop the others.
   * @throws if SQS does not accept all of them; the sweep queues the missing ones later
   */
  async function push(
    queue: DeliveryQueue,
    deliveries: readonly DeliveryReference[],
    delayMs = 0,
  ): Promise<void> {
    const batches = chunked(deliveries, MAX_BATCH_SIZE)
    await settleAll(batches, (batch) => pushBatch(queue, batch, delayMs), batches.length)
  }

  async function pushBatch(
    queue: DeliveryQueue,
    batch: readonly DeliveryReference[],
    delayMs: number,
  ): Promise<void> {
    const { Failed = [] } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: urls[queue],
        Entries: batch.map((delivery, index) => ({
          Id: String(index),
          MessageBody: JSON.stringify(delivery),
          MessageGroupId: delivery[GROUPS[queue]],
          ...(delayMs > 0 && { DelaySeconds: Math.ceil(delayMs / 1000) }),
        })),
      }),
    )
    if (Failed.length > 0) throw new Error('SQS did not accept all messages')
  }

  return { push }
}
