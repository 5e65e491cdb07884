import { setTimeout as sleep } from 'node:timers/promises'
import type { FunctionPool } from './function-pool.ts'
import { ACCOUNT_ID } from './physical-names.ts'
import { callSqs, queueUrl } from './queues.ts'
import { recordOf, type SqsMessage, toDelete } from './sqs-batch.ts'
import type { OpenTemplate, Resolved } from './template.ts'

type MappingProperties = {
  readonly EventSourceArn: string
  readonly FunctionName: string
  readonly BatchSize?: number
  readonly Enabled?: boolean
  readonly FunctionResponseTypes?: readonly string[]
  readonly ScalingConfig?: { readonly MaximumConcurrency?: number }
  readonly FilterCriteria?: unknown
}

export type Mapping = Resolved<MappingProperties>

type Options = {
  readonly mappings: readonly Mapping[]
  readonly endpoint: string
  readonly region: string
  readonly functionOf: (arn: string) => FunctionPool
  readonly log: (line: string) => void
}

/** Pollers of one queue; Lambda begins with five. */
const POLLERS = 2

export type EventSources = { readonly version: string; readonly stop: () => Promise<void> }

/** @throws Error naming a mapping that cannot be served here */
export function eventSourceMappings(template: OpenTemplate): Mapping[] {
  const mappings = template
    .of<MappingProperties>('AWS::Lambda::EventSourceMapping')
    .filter(({ properties }) => properties.Enabled !== false)
  mappings.forEach(checkSupported)
  return mappings
}

/**
 * Feeds queues to the functions that are mapped to them, until stopped. Goes on with the running ones where nothing
 * has changed: a poller that ends may take a message with it, until the queue shows it again.
 */
export async function startEventSources(options: Options, running?: EventSources): Promise<EventSources> {
  const version = JSON.stringify(options.mappings)
  if (running?.version === version) return running
  await running?.stop()

  const stopped = new AbortController()
  const polls = options.mappings.flatMap(({ properties }) => {
    const pollers = Math.min(properties.ScalingConfig?.MaximumConcurrency ?? POLLERS, POLLERS)
    return Array.from({ length: pollers }, () => poll(properties, options, stopped.signal))
  })
  return {
    version,
    stop: async () => {
      stopped.abort()
      await Promise.all(polls)
    },
  }
}

function checkSupported({ id, properties }: Mapping): void {
  if (!properties.EventSourceArn.startsWith('arn:aws:sqs:'))
    throw new Error(
      `${id} maps ${properties.EventSourceArn} to a function; the local stack feeds functions from SQS queues only.`,
    )
  if (properties.FilterCriteria)
    throw new Error(`${id} has FilterCriteria, which the local stack does not apply.`)
}

async function poll(mapping: MappingProperties, options: Options, stopped: AbortSignal): Promise<void> {
  const { endpoint, log } = options
  const url = queueUrl(endpoint, mapping.EventSourceArn.split(':').at(-1) ?? '')
  while (!stopped.aborted) {
    try {
      const { Messages: messages = [] } = await callSqs<{ Messages?: SqsMessage[] }>(
        endpoint,
        'ReceiveMessage',
        {
          QueueUrl: url,
          MaxNumberOfMessages: Math.min(mapping.BatchSize ?? 10, 10),
          WaitTimeSeconds: 20,
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
        },
        stopped,
      )
      if (messages.length > 0) await handle(messages, url, mapping, options)
    } catch (error) {
      if (stopped.aborted) return
      log(`The queue ${url} cannot be polled: ${(error as Error).message}`)
      await sleep(1000, undefined, { signal: stopped }).catch(() => {})
    }
  }
}

/** What is not deleted comes back after the queue's visibility timeout, and in the end to its dead-letter queue. */
async function handle(messages: SqsMessage[], url: string, mapping: MappingProperties, options: Options) {
  const { endpoint, region, functionOf, log } = options
  const pool = functionOf(arnOf(mapping.FunctionName, region))
  const records = messages.map((message) => recordOf(message, mapping.EventSourceArn, region))
  const outcome = await pool.invoke(JSON.stringify({ Records: records }))
  for (const line of outcome.complaints) log(`${pool.name}: ${line}`)
  const partial = mapping.FunctionResponseTypes?.includes('ReportBatchItemFailures') ?? false
  const done = outcome.ok ? toDelete(messages, outcome.payload, partial) : []
  if (done.length < messages.length)
    log(`${pool.name}: ${messages.length - done.length} of ${messages.length} messages go back to the queue`)
  if (done.length === 0) return
  await callSqs(endpoint, 'DeleteMessageBatch', {
    QueueUrl: url,
    Entries: done.map(({ MessageId, ReceiptHandle }) => ({ Id: MessageId, ReceiptHandle })),
  })
}

/** A mapping names its function by ARN or by name. */
const arnOf = (name: string, region: string): string =>
  name.startsWith('arn:') ? name : `arn:aws:lambda:${region}:${ACCOUNT_ID}:function:${name}`
