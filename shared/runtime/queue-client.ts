import { SQSClient } from '@aws-sdk/client-sqs'

/** Limits of one call of the queue. In milliseconds, for each attempt. */
export const QUEUE_CALL = { maxAttempts: 2, requestTimeout: 2000 } as const

/** Creates an SQS client that fails fast. A sweep finds messages that could not be queued. */
export const queueClient = (): SQSClient =>
  new SQSClient({
    maxAttempts: QUEUE_CALL.maxAttempts,
    // The SDK finds the endpoint, rather than taking the host in the URL of a queue.
    useQueueUrlAsEndpoint: false,
    requestHandler: {
      connectionTimeout: 1000,
      requestTimeout: QUEUE_CALL.requestTimeout,
      socketTimeout: QUEUE_CALL.requestTimeout,
      throwOnRequestTimeout: true,
    },
  })
