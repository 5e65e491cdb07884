import { Duration, Stack } from 'aws-cdk-lib'
import { type IQueue, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import type { QueueId, QueueName } from '../../shared/runtime/workers.ts'
import { consumerTimeout } from '../functions/worker-functions.ts'
import { queueName } from '../settings/names.ts'
import type { StageSettings } from '../settings/stages.ts'

/** Receives of a message before it becomes a dead letter. */
const MAX_RECEIVES = 5

/** Messages hold ids only, so SQS's own encryption is enough. */
const ENCRYPTION = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true }

/** The properties that all queues have. */
const common = ({ name }: Pick<StageSettings, 'name'>, queue: QueueId) => ({
  ...ENCRYPTION,
  queueName: queueName(name, queue),
  retentionPeriod: Duration.days(14),
})

/** A queue for what could not be processed. */
export const deadLetterQueue = (
  scope: Construct,
  id: string,
  stage: Pick<StageSettings, 'name'>,
  queue: QueueId,
): Queue => new Queue(scope, id, common(stage, queue))

/** Lambda recommends six times the timeout of the function. For a quarter of an hour, that would delay a further try too long. */
const visibilityTimeout = (timeout: Duration): Duration =>
  Duration.seconds(timeout.toSeconds() < 900 ? 6 * timeout.toSeconds() : timeout.toSeconds() + 60)

/** A queue that workers consume. Messages that they fail to process go to a queue of dead letters. */
export const consumedQueue = (scope: Construct, id: string, stage: StageSettings, name: QueueName): Queue =>
  new Queue(scope, id, {
    ...common(stage, name),
    visibilityTimeout: visibilityTimeout(consumerTimeout(name)),
    deadLetterQueue: {
      queue: deadLetterQueue(scope, `${id}Dead`, stage, `${name}-dead`),
      maxReceiveCount: MAX_RECEIVES,
    },
  })

/** The queues of another stack, found by their names. */
export class NamedQueues extends Construct {
  readonly #stage: Pick<StageSettings, 'name'>

  constructor(scope: Construct, id: string, stage: Pick<StageSettings, 'name'>) {
    super(scope, id)
    this.#stage = stage
  }

  get(queue: QueueId): IQueue {
    const found = this.node.tryFindChild(queue) as IQueue | undefined
    const resource = queueName(this.#stage.name, queue)
    return found ?? Queue.fromQueueArn(this, queue, Stack.of(this).formatArn({ service: 'sqs', resource }))
  }
}
