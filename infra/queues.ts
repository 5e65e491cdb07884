import { Duration } from 'aws-cdk-lib'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'

/** Receives of a message before it becomes a dead letter. */
const MAX_RECEIVES = 5

/**
 * A queue and the queue of its dead letters. Messages hold ids only, so SQS's own encryption is enough.
 * @param timeout the timeout of the function that consumes it
 */
export function queueWithDeadLetters(
  scope: Construct,
  id: string,
  timeout: Duration,
): { queue: Queue; deadLetters: Queue } {
  const encryption = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true }
  const deadLetters = new Queue(scope, `${id}Dead`, { ...encryption, retentionPeriod: Duration.days(14) })
  const queue = new Queue(scope, id, {
    ...encryption,
    // Lambda recommends six times the timeout of the function.
    visibilityTimeout: Duration.seconds(6 * timeout.toSeconds()),
    retentionPeriod: Duration.days(14),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVES },
  })
  return { queue, deadLetters }
}
