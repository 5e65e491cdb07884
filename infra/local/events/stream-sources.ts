import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DynamoDBRecord } from 'aws-lambda'
import type { FunctionPool } from '../functions/pool.ts'
import { type EventPattern, matches } from './event-pattern.ts'
import type { StreamMapping } from './event-source-mappings.ts'
import {
  openAtEnd,
  type StreamPosition,
  type StreamRecord,
  streamArnOf,
  type TableEngine,
} from './table-streams.ts'

type Options = {
  readonly mappings: readonly StreamMapping[]
  readonly engine: TableEngine
  /** Sends a message to the queue with this ARN. */
  readonly sendToQueue: (arn: string, body: string) => Promise<unknown>
  readonly getPool: (arn: string) => FunctionPool
  readonly log: (line: string) => void
}

export type StreamSources = { readonly stop: () => Promise<void> }

/** Interval between reads of a stream, and so the maximum delay of a record. */
const POLL_MS = 100
/** A read that returns this many records is followed by another one immediately. */
const FULL_PAGE = 1000
/** Delay before a failed batch is retried; doubles with each failure. */
const RETRY_DELAY_MS = 100
const MAX_RETRY_DELAY_MS = 10_000

/** Invokes the mapped functions with the records of their streams from now on, until stopped. */
export async function startStreamSources(options: Options): Promise<StreamSources> {
  const { mappings, engine } = options
  const stopped = new AbortController()
  const feeds: Promise<void>[] = []
  for (const mapping of mappings) {
    const position = await openAtEnd(engine, await streamArnOf(engine, mapping.table))
    feeds.push(feed(mapping, position, options, stopped.signal))
  }
  return {
    stop: async () => {
      stopped.abort()
      await Promise.all(feeds)
    },
  }
}

/** Invokes a function with records in stream order. A page of records of which some cannot be delivered is read again. */
async function feed(
  mapping: StreamMapping,
  position: StreamPosition,
  { engine, sendToQueue, getPool, log }: Options,
  stopped: AbortSignal,
): Promise<void> {
  const source = { arn: mapping.arn, streamArn: position.streamArn, region: engine.region }

  /** Blocks later records until these are processed or discarded, as Lambda does. */
  const deliver = async (records: readonly DynamoDBRecord[], attempt: number): Promise<void> => {
    const pool = getPool(mapping.functionArn)
    const outcome = await pool.invoke(JSON.stringify({ Records: records }))
    for (const line of outcome.diagnostics) log(`${pool.name}: ${line}`)
    if (outcome.ok) return
    stopped.throwIfAborted()
    if (mapping.maxRetries !== null && attempt >= mapping.maxRetries) {
      log(`${pool.name}: ${records.length} records were discarded after ${attempt + 1} attempts`)
      const report = discardedBatch(records, { functionArn: mapping.functionArn, attempts: attempt + 1 })
      if (mapping.failureQueue) await sendToQueue(mapping.failureQueue, JSON.stringify(report))
      return
    }
    const delayMs = Math.min(RETRY_DELAY_MS * 2 ** attempt, MAX_RETRY_DELAY_MS)
    await sleep(delayMs, undefined, { signal: stopped })
    await deliver(records, attempt + 1)
  }

  while (!stopped.aborted) {
    try {
      const read = await position.advance(async (newRecords) => {
        const records = newRecords.map((record) => recordOf(record, source))
        for (const batch of batchesOf(records, mapping)) {
          stopped.throwIfAborted()
          await deliver(batch, 0)
        }
      }, stopped)
      if (read < FULL_PAGE) await sleep(POLL_MS, undefined, { signal: stopped })
    } catch (error) {
      if (stopped.aborted) return
      log(`The stream of ${mapping.table} cannot be read: ${(error as Error).message}`)
      await sleep(1000, undefined, { signal: stopped }).catch(() => {})
    }
  }
}

type Source = {
  /** The ARN in the template. */
  readonly arn: string
  /** The name in the engine. */
  readonly streamArn: string
  readonly region: string
}

/** The record that a function receives for a change. */
function recordOf(record: StreamRecord, { arn, streamArn, region }: Source): DynamoDBRecord {
  const { eventName, dynamodb } = record
  return {
    eventID: createHash('md5').update(`${streamArn}/${dynamodb.SequenceNumber}`).digest('hex'),
    eventName: eventName as NonNullable<DynamoDBRecord['eventName']>,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: region,
    dynamodb: dynamodb as NonNullable<DynamoDBRecord['dynamodb']>,
    eventSourceARN: arn,
  }
}

/** Lambda's report of a batch that it discards: its position in the stream, not its records. */
function discardedBatch(
  records: readonly DynamoDBRecord[],
  { functionArn, attempts }: { readonly functionArn: string; readonly attempts: number },
) {
  const arrival = (record: DynamoDBRecord | undefined) =>
    new Date((record?.dynamodb?.ApproximateCreationDateTime ?? 0) * 1000).toISOString()
  const [first, last] = [records[0], records.at(-1)]
  return {
    requestContext: {
      requestId: randomUUID(),
      functionArn,
      condition: 'RetryAttemptsExhausted',
      approximateInvokeCount: attempts,
    },
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    version: '1.0',
    timestamp: new Date().toISOString(),
    DDBStreamBatchInfo: {
      shardId: 'shardId-local',
      startSequenceNumber: first?.dynamodb?.SequenceNumber,
      endSequenceNumber: last?.dynamodb?.SequenceNumber,
      approximateArrivalOfFirstRecord: arrival(first),
      approximateArrivalOfLastRecord: arrival(last),
      batchSize: records.length,
      streamArn: first?.eventSourceARN,
    },
  }
}

/** The records that match the filters, in batches. */
function batchesOf(
  records: readonly DynamoDBRecord[],
  { filters, batchSize }: { readonly filters: readonly EventPattern[]; readonly batchSize: number },
): DynamoDBRecord[][] {
  const wanted = records.filter(
    (record) => filters.length === 0 || filters.some((filter) => matches(filter, record)),
  )
  return Array.from({ length: Math.ceil(wanted.length / batchSize) }, (_, at) =>
    wanted.slice(at * batchSize, (at + 1) * batchSize),
  )
}
