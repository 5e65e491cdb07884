import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { keysOf } from '../domain/keys-of.ts'
import { coldStart } from '../observability/cold-start.ts'
import { errorOrigin, logToStdout } from '../observability/log.ts'
import { openTable } from '../store/table/table.ts'
import { documentClient } from './document-client.ts'
import { isStartedOnDemand, readWorkerEnvironment } from './environment.ts'
import { type Opened, openPlatform, openStores, type Platform, type Stores } from './platform.ts'
import type { QueueName, Worker } from './workers.ts'

/** A message of an SQS batch, and the queue of the worker that it is from. Its body is unverified input and must not be logged. */
type QueueMessage<Queue> = {
  readonly body: string
  readonly queue: Queue
  /** Milliseconds until the invocation's time-out. */
  readonly remainingMs: () => number
}

type LambdaContext = Pick<Context, 'getRemainingTimeInMillis'>

type QueueWorker<Queue extends QueueName> = Pick<Worker, 'id'> & {
  readonly trigger: { readonly type: 'queue'; readonly maxConcurrency: Readonly<Record<Queue, number>> }
}

/**
 * Creates the Lambda handler of a worker. Stores are opened once per process. A failure is logged as one line, and
 * the handler then throws an error that says nothing but the worker's id.
 */
export function worker<S extends Stores, Event, Result>(
  { id }: Pick<Worker, 'id'>,
  stores: S,
  handle: (event: Event, stores: Opened<S>, platform: Platform, context: LambdaContext) => Promise<Result>,
) {
  const { TABLE_NAME, STAGE } = readWorkerEnvironment()
  const platform = openPlatform(openTable(documentClient(), TABLE_NAME), STAGE)
  const opened = openStores(stores, platform)
  const reportColdStart = coldStart(platform.recordMs, isStartedOnDemand())
  return async (event: Event, context: LambdaContext): Promise<Result> => {
    reportColdStart()
    try {
      return await handle(event, opened, platform, context)
    } catch (error) {
      logFailure(id, error, platform.now())
      // Lambda logs the message of what is thrown, so the original error must not leave the handler.
      throw new Error(`${id} failed`)
    }
  }
}

/**
 * Creates the Lambda handler of a worker that a queue invokes. The messages of a batch are handled concurrently, and
 * only those that failed are reported, so that SQS delivers only those again. If all of them failed, the handler throws:
 * SQS delivers the same messages again, and Lambda counts an error, which the alarms on workers read.
 */
export function queueWorker<S extends Stores, Queue extends QueueName>(
  definition: QueueWorker<Queue>,
  stores: S,
  handleMessage: (message: QueueMessage<Queue>, stores: Opened<S>, platform: Platform) => Promise<void>,
) {
  // A name may end with another name, as the queue of slow deliveries does.
  const queues = keysOf(definition.trigger.maxConcurrency).sort((a, b) => b.length - a.length)
  const queueOf = (arn: string): Queue => {
    const queue = queues.length === 1 ? queues[0] : queues.find((name) => arn.endsWith(name))
    if (queue === undefined) throw new Error('The worker does not consume this queue.')
    return queue
  }
  const handleBatch = worker<S, SQSEvent, SQSBatchResponse>(
    definition,
    stores,
    async ({ Records }, opened, platform, context) => {
      const failed = await Promise.all(
        Records.map(async ({ messageId, body, eventSourceARN }) => {
          try {
            const remainingMs = () => context.getRemainingTimeInMillis()
            await handleMessage({ body, queue: queueOf(eventSourceARN), remainingMs }, opened, platform)
            return []
          } catch (error) {
            logFailure(definition.id, error, platform.now())
            return [{ itemIdentifier: messageId }]
          }
        }),
      )
      return { batchItemFailures: failed.flat() }
    },
  )
  return async (event: SQSEvent, context: LambdaContext): Promise<SQSBatchResponse> => {
    const response = await handleBatch(event, context)
    if (response.batchItemFailures.length === event.Records.length) throw new Error(`${definition.id} failed`)
    return response
  }
}

function logFailure(id: string, error: unknown, now: number): void {
  logToStdout({
    timestamp: new Date(now).toISOString(),
    level: 'error',
    worker: id,
    error: 'failed',
    origin: errorOrigin(error),
  })
}
