import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { errorOrigin, logToStdout } from '../observability/log.ts'
import { openTable } from '../store/table/table.ts'
import { documentClient } from './document-client.ts'
import { readWorkerEnvironment } from './environment.ts'
import { type Opened, openPlatform, openStores, type Platform, type Stores } from './platform.ts'

/** What is not a message for us goes to the dead letters unseen; its text stays out of the log. */
type QueueMessage = { readonly body: string; readonly queueArn: string }

/** A Lambda handler that no request starts: the stores it names, and one log line when it fails. */
export function worker<S extends Stores, Event, Result>(
  name: string,
  stores: S,
  handle: (event: Event, stores: Opened<S>, platform: Platform) => Promise<Result>,
) {
  const platform = openPlatform(openTable(documentClient(), readWorkerEnvironment().TABLE_NAME))
  const opened = openStores(stores, platform)
  return async (event: Event): Promise<Result> => {
    try {
      return await handle(event, opened, platform)
    } catch (error) {
      logFailure(name, error)
      // Not the error itself: Lambda would log what it says.
      throw new Error(`${name} failed`)
    }
  }
}

/**
 * A Lambda handler for a queue: each message of the batch on its own, side by side. Those that fail are reported, so that
 * they alone come back.
 */
export function queueWorker<S extends Stores>(
  name: string,
  stores: S,
  handleMessage: (message: QueueMessage, stores: Opened<S>, platform: Platform) => Promise<void>,
) {
  return worker<S, SQSEvent, SQSBatchResponse>(name, stores, async ({ Records }, opened, platform) => {
    const failed = await Promise.all(
      Records.map(async ({ messageId, body, eventSourceARN }) => {
        try {
          await handleMessage({ body, queueArn: eventSourceARN }, opened, platform)
          return []
        } catch (error) {
          logFailure(name, error)
          return [{ itemIdentifier: messageId }]
        }
      }),
    )
    return { batchItemFailures: failed.flat() }
  })
}

function logFailure(name: string, error: unknown): void {
  logToStdout({
    timestamp: new Date().toISOString(),
    level: 'error',
    worker: name,
    error: 'failed',
    origin: errorOrigin(error),
  })
}
