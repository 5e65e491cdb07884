import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import type { ClinicId } from '../domain/clinic.ts'

/** A delivery to be attempted, as the queues carry it. */
export type QueuedDelivery = {
  readonly clinic: ClinicId
  readonly webhook: string
  readonly delivery: string
}

/** Endpoints that answer quickly have a way of their own, so that those which do not hold nobody up. */
export type Lane = 'quick' | 'slow'

export type DeliveryQueues = ReturnType<typeof deliveryQueues>

const Body = z.strictObject({ clinic: z.uuid(), webhook: z.uuid(), delivery: z.uuid() })

/** @throws SyntaxError or ZodError for what is no such message */
export const readQueuedDelivery = (body: string): QueuedDelivery =>
  Body.parse(JSON.parse(body)) as QueuedDelivery

/** What SQS takes in one call. */
const MAX_BATCH_SIZE = 10

export function deliveryQueues(client: SQSClient, urls: Readonly<Record<Lane, string>>) {
  /** @throws when SQS did not take all; the sweep finds what it did not take */
  async function push(lane: Lane, deliveries: readonly QueuedDelivery[], delayMs = 0): Promise<void> {
    const batches = Array.from({ length: Math.ceil(deliveries.length / MAX_BATCH_SIZE) }, (_, n) =>
      deliveries.slice(n * MAX_BATCH_SIZE, (n + 1) * MAX_BATCH_SIZE),
    )
    // All of them, whatever becomes of one.
    const outcomes = await Promise.allSettled(batches.map((batch) => pushBatch(lane, batch, delayMs)))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  async function pushBatch(lane: Lane, batch: readonly QueuedDelivery[], delayMs: number): Promise<void> {
    const { Failed = [] } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: urls[lane],
        Entries: batch.map((delivery, index) => ({
          Id: String(index),
          MessageBody: JSON.stringify(delivery),
          ...(delayMs > 0 && { DelaySeconds: Math.ceil(delayMs / 1000) }),
        })),
      }),
    )
    if (Failed.length > 0) throw new Error('the queue did not take all')
  }

  return { push }
}
