import { Duration } from 'aws-cdk-lib'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'

/** Receives of a message before it becomes a dead letter. */
const MAX_RECEIVES = 5

/** Messages hold ids only, so SQS's own encryption is enough. */
const ENCRYPTION = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true }

/** First in, first out within a group; nothing for a standard queue. */
type Kind = { readonly fifo?: true }

/** A queue for what could not be processed. */
export const deadLetterQueue = (scope: Construct, id: string, kind: Kind = {}): Queue =>
  new Queue(scope, id, { ...ENCRYPTION, ...kind, retentionPeriod: Duration.days(14) })

/**
 * A queue and the queue of its dead letters.
 * @param timeout the timeout of the function that consumes it
 */
export function queueWithDeadLetters(
  scope: Construct,
  id: string,
  timeout: Duration,
  kind: Kind = {},
): { queue: Queue; deadLetters: Queue } {
  const deadLetters = deadLetterQueue(scope, `${id}Dead`, kind)
  const queue = new Queue(scope, id, {
    ...ENCRYPTION,
    ...kind,
    // Lambda recommends six times the timeout of the function.
    visibilityTimeout: Duration.seconds(6 * timeout.toSeconds()),
    retentionPeriod: Duration.days(14),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVES },
  })
  return { queue, deadLetters }
}
