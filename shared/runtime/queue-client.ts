import { SQSClient } from '@aws-sdk/client-sqs'

/** Creates an SQS client that fails fast. A sweep finds messages that could not be queued. */
export const queueClient = (): SQSClient =>
  new SQSClient({
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 1000,
      requestTimeout: 2000,
      socketTimeout: 2000,
      throwOnRequestTimeout: true,
    },
  })
