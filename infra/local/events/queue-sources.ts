import { setTimeout as sleep } from 'node:timers/promises'
import type { SQSRecord } from 'aws-lambda'
import { callSqs, queueUrl } from '../engines/queues.ts'
import type { FunctionPool } from '../functions/pool.ts'
import type { QueueMapping } from './event-source-mappings.ts'

type Options = {
  readonly mappings: readonly QueueMapping[]
  readonly endpoint: string
  readonly region: string
  readonly getPool: (arn: string) => FunctionPool
  readonly log: (line: string) => void
}

/** Messages of a queue with small batches that are processed at a time, if its mapping allows as many. */
const MAX_MESSAGES = 8
/** Pollers of a queue with batches of ten. Lambda starts with five. */
const MIN_POLLERS = 4

/** How many batches a function processes at a time, if all of its queues have messages. */
export const batchesOf = (functionArn: string, mappings: readonly QueueMapping[]): number =>
  mappings
    .filter((mapping) => mapping.functionArn === functionArn)
    .reduce((sum, mapping) => sum + pollersOf(mapping), 0)

function pollersOf({ batchSize, maxConcurrency }: QueueMapping): number {
  const wanted = Math.max(MIN_POLLERS, Math.floor(MAX_MESSAGES / batchSize))
  return Math.min(maxConcurrency ?? wanted, wanted)
}

/** Polls queues and invokes the functions that are mapped to them, until stopped. */
export function startQueueSources(options: Options) {
  const stopped = new AbortController()
  const polls = options.mappings.flatMap((mapping) =>
    Array.from({ length: pollersOf(mapping) }, () => poll(mapping, options, stopped.signal)),
  )
  return {
    stop: async () => {
      stopped.abort()
      await Promise.all(polls)
    },
  }
}

async function poll(mapping: QueueMapping, options: Options, stopped: AbortSignal): Promise<void> {
  const { endpoint, log } = options
  const url = queueUrl(endpoint, mapping.arn.split(':').at(-1) ?? '')
  while (!stopped.aborted) {
    try {
      const { Messages: messages = [] } = await callSqs<{ Messages?: SqsMessage[] }>(
        endpoint,
        'ReceiveMessage',
        {
          QueueUrl: url,
          MaxNumberOfMessages: Math.min(mapping.batchSize, 10),
          WaitTimeSeconds: 20,
          MessageSystemAttributeNames: ['All'],
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

/** Messages that are not deleted become visible again after the visibility timeout, and finally become dead letters. */
async function handle(messages: SqsMessage[], url: string, mapping: QueueMapping, options: Options) {
  const { endpoint, region, getPool: functionOf, log } = options
  const pool = functionOf(mapping.functionArn)
  const records = messages.map((message) => recordOf(message, mapping.arn, region))
  const outcome = await pool.invoke(JSON.stringify({ Records: records }))
  for (const line of outcome.diagnostics) log(`${pool.name}: ${line}`)
  const done = outcome.ok ? processedMessages(messages, outcome.payload, mapping.partialResponses) : []
  if (done.length < messages.length)
    log(
      `${pool.name}: ${messages.length - done.length} of ${messages.length} messages failed and return to the queue`,
    )
  if (done.length === 0) return
  await callSqs(endpoint, 'DeleteMessageBatch', {
    QueueUrl: url,
    Entries: done.map(({ MessageId, ReceiptHandle }) => ({ Id: MessageId, ReceiptHandle })),
  })
}

/** A message as ReceiveMessage returns it in SQS's JSON protocol. */
export type SqsMessage = {
  readonly MessageId: string
  readonly ReceiptHandle: string
  readonly Body: string
  readonly MD5OfBody: string
  readonly Attributes?: Partial<SQSRecord['attributes']>
}

/** The record that a function receives for a message. */
export function recordOf(message: SqsMessage, eventSourceARN: string, awsRegion: string): SQSRecord {
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: { ...message.Attributes } as SQSRecord['attributes'],
    messageAttributes: {},
    md5OfBody: message.MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN,
    awsRegion,
  }
}

/**
 * The messages of a batch that succeeded. If the function reports failures, those are left out; a malformed report, or
 * one with an unknown id, fails the whole batch, as on Lambda.
 */
export function processedMessages<M extends { readonly MessageId: string }>(
  messages: readonly M[],
  payload: string,
  partialResponses: boolean,
): readonly M[] {
  if (!partialResponses) return messages
  const response: { batchItemFailures?: unknown } | null = JSON.parse(payload)
  const failures = response?.batchItemFailures ?? []
  if (!Array.isArray(failures)) return []
  const failed = new Set(failures.map((failure) => (failure as { itemIdentifier?: unknown })?.itemIdentifier))
  const batchIds = new Set<unknown>(messages.map(({ MessageId }) => MessageId))
  if ([...failed].some((id) => !batchIds.has(id))) return []
  return messages.filter(({ MessageId }) => !failed.has(MessageId))
}
