import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { callSqs, createQueues, queueUrl, startQueues } from '../../infra/local/engines/queues.ts'
import { processedMessages, recordOf, type SqsMessage } from '../../infra/local/events/queue-sources.ts'
import { LOCAL_SETTINGS } from '../../infra/local/settings.ts'
import { resolveStacks } from '../../infra/local/template/stacks.ts'
import { queueName } from '../../infra/settings/names.ts'
import type { QueueId } from '../../shared/runtime/workers.ts'
import { sharedAssembly } from './shared-assembly.ts'

type Handler = (event: SQSEvent) => Promise<SQSBatchResponse>

/** Creates the queues of the stack's template on the real engine. It reads `Date`, so tests can move the clock. */
export async function stackQueues() {
  const engine = await startQueues('us-east-1')
  const { otherStacks } = await sharedAssembly({ stage: 'dev', ...LOCAL_SETTINGS })
  const template = resolveStacks(otherStacks, {
    region: 'us-east-1',
    queueUrl: (name) => queueUrl(engine.endpoint, name),
  })
  await createQueues(template, engine.endpoint)
  return {
    ...engine,
    queue: (queue: QueueId) => openQueue(engine.endpoint, queueUrl(engine.endpoint, queueName('dev', queue))),
  }
}

function openQueue(endpoint: string, url: string) {
  const callAction = <T>(action: string, input: object) =>
    callSqs<T>(endpoint, action, { QueueUrl: url, ...input })

  /** The number of messages: visible, in flight and delayed. */
  async function size(): Promise<number> {
    const names = ['', 'NotVisible', 'Delayed'].map((kind) => `ApproximateNumberOfMessages${kind}`)
    const { Attributes = {} } = await callAction<{ Attributes?: Record<string, string> }>(
      'GetQueueAttributes',
      {
        AttributeNames: names,
      },
    )
    return names.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0)
  }

  /** Receives one batch and invokes the function with it, like Lambda. Returns the size of the batch. */
  async function deliverBatch(handler: Handler): Promise<number> {
    const { Messages: messages = [] } = await callAction<{ Messages?: SqsMessage[] }>('ReceiveMessage', {
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 0,
      MessageSystemAttributeNames: ['All'],
    })
    if (messages.length === 0) return 0
    const records = messages.map((message) => recordOf(message, 'arn:aws:sqs:us-east-1:0:q', 'us-east-1'))
    const processed = await handler({ Records: records }).then(
      (response) => processedMessages(messages, JSON.stringify(response), true),
      () => [],
    )
    for (const { ReceiptHandle } of processed) await callAction('DeleteMessage', { ReceiptHandle })
    return messages.length
  }

  return {
    url,
    size,
    deliverBatch,
    purge: () => callAction('PurgeQueue', {}),
    push: (body: string) => callAction('SendMessage', { MessageBody: body }),
    /** The bodies of all visible messages. */
    bodies: async () => {
      const { Messages = [] } = await callAction<{ Messages?: SqsMessage[] }>('ReceiveMessage', {
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 0,
        VisibilityTimeout: 0,
      })
      return Messages.map(({ Body }) => Body)
    },
  }
}
