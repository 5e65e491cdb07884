import { buildApp } from 'fauxqs'
import { ACCOUNT_ID } from '../template/physical-names.ts'
import type { ResolvedResource, ResolvedTemplate } from '../template/template.ts'

/** Starts an SQS in this process. Messages are in memory. */
export async function startQueues(region: string) {
  const app = buildApp({ logger: false, defaultRegion: region })
  const endpoint = await app.listen({ host: '127.0.0.1', port: 0 })
  return { endpoint, stop: () => app.close() }
}

export const queueUrl = (endpoint: string, name: string): string => `${endpoint}/${ACCOUNT_ID}/${name}`

/** A call in SQS's JSON protocol. The engine checks no signature, so no client is needed. @throws Error with the response */
export async function callSqs<Output>(
  endpoint: string,
  action: string,
  input: object,
  signal?: AbortSignal,
): Promise<Output> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` },
    body: JSON.stringify(input),
    signal: signal ?? null,
  })
  const responseText = await response.text()
  if (!response.ok) throw new Error(`SQS rejected ${action}: ${responseText}`)
  return JSON.parse(responseText || '{}')
}

/** Sends a message to the queue with this ARN. */
export const sendToQueue = (
  endpoint: string,
  arn: string,
  message: { readonly MessageBody: string; readonly MessageGroupId?: string },
): Promise<unknown> =>
  callSqs(endpoint, 'SendMessage', { QueueUrl: queueUrl(endpoint, arn.split(':').at(-1) ?? ''), ...message })

type QueueProperties = Readonly<Record<string, unknown>> & {
  readonly RedrivePolicy?: { readonly deadLetterTargetArn: string }
}

const ATTRIBUTES = ['DelaySeconds', 'MessageRetentionPeriod', 'RedrivePolicy', 'VisibilityTimeout']

/** Creates the template's queues unless they exist; dead-letter queues first, since other queues refer to them. @throws Error for a FIFO queue */
export async function createQueues(template: ResolvedTemplate, endpoint: string): Promise<void> {
  const queues = template.resourcesOf<QueueProperties>('AWS::SQS::Queue')
  const ordered = queues.find(({ properties }) => properties.FifoQueue)
  if (ordered) throw new Error(`${ordered.id} is a FIFO queue, which the local stack does not support.`)
  const deadLetters = new Set(queues.map(({ properties }) => properties.RedrivePolicy?.deadLetterTargetArn))
  const isDeadLetter = ({ id }: ResolvedResource<QueueProperties>) =>
    deadLetters.has(template.attribute(id, 'Arn'))
  for (const queue of [...queues.filter(isDeadLetter), ...queues.filter((other) => !isDeadLetter(other))]) {
    await callSqs(endpoint, 'CreateQueue', {
      QueueName: template.attribute(queue.id, 'QueueName'),
      Attributes: attributesOf(queue.properties),
    })
  }
}

/** SQS expects every attribute as a string, and policies as JSON. */
const attributesOf = (properties: QueueProperties): Record<string, string> =>
  Object.fromEntries(
    ATTRIBUTES.flatMap((name) => {
      const value = properties[name]
      if (value === undefined) return []
      return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]]
    }),
  )
