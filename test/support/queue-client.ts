import { SQSClient } from '@aws-sdk/client-sqs'

/** A client of the queue engine that waits for messages no longer: the engine returns at once all that were sent before. */
export function queueClient(endpoint: string, maxWaitSeconds = 0): SQSClient {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const client = new SQSClient({ endpoint, region: 'us-east-1', credentials })
  client.middlewareStack.add(
    (next) => (args) => {
      const input = args.input as { WaitTimeSeconds?: number }
      if (input.WaitTimeSeconds !== undefined)
        input.WaitTimeSeconds = Math.min(input.WaitTimeSeconds, maxWaitSeconds)
      return next(args)
    },
    { step: 'initialize' },
  )
  return client
}
