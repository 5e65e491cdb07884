import { Duration } from 'aws-cdk-lib'
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { FUNCTION_TIMEOUT } from './stages.ts'

/** Receives of a message before it is a dead letter. */
const MAX_RECEIVES = 5

/**
 * A queue that gives up on a message after {@link MAX_RECEIVES} receives and keeps it for a person. Queues carry ids
 * only, so SQS's own encryption is enough.
 */
export function queueWithDeadLetters(
  scope: Construct,
  id: string,
  timeout: Duration = FUNCTION_TIMEOUT,
): { queue: Queue; deadLetters: Queue } {
  const encryption = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true }
  const deadLetters = new Queue(scope, `${id}Dead`, { ...encryption, retentionPeriod: Duration.days(14) })
  const queue = new Queue(scope, id, {
    ...encryption,
    // Six times what its function may take, as Lambda asks for.
    visibilityTimeout: Duration.seconds(6 * timeout.toSeconds()),
    retentionPeriod: Duration.days(14),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: MAX_RECEIVES },
  })
  return { queue, deadLetters }
}

/** Feeds a queue to a function that says which messages of a batch failed. */
export function addConsumer(lambda: Lambda, queue: Queue, { maxConcurrency = 10 } = {}): void {
  lambda.addEventSource(
    new SqsEventSource(queue, { batchSize: 10, reportBatchItemFailures: true, maxConcurrency }),
  )
}
