import { SQSClient } from '@aws-sdk/client-sqs'

/** Gives up soon: what could not be queued is found by a sweep. */
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
