import { setTimeout as sleep } from 'node:timers/promises'
import type { DynamoDBRecord } from 'aws-lambda'
import type { FunctionPool } from '../functions/pool.ts'
import type { StreamMapping } from './event-source-mappings.ts'
import { batchesOf, discardedBatch, recordOf } from './stream-batch.ts'
import {
  configureStreams,
  openAtEnd,
  type StreamPosition,
  streamArnOf,
  type TableEngine,
  type TableStream,
} from './table-streams.ts'

type Options = {
  readonly mappings: readonly StreamMapping[]
  readonly tables: readonly TableStream[]
  readonly engine: TableEngine
  /** Sends a message to the queue with this ARN. */
  readonly sendToQueue: (arn: string, body: string) => Promise<unknown>
  readonly getPool: (arn: string) => FunctionPool
  readonly log: (line: string) => void
}

type Source = {
  readonly version: string
  readonly position: StreamPosition
  readonly stop: () => Promise<void>
}

export type StreamSources = {
  /** The sources by mapping id. */
  readonly sources: ReadonlyMap<string, Source>
  readonly stop: () => Promise<void>
}

/** Interval between reads of a stream, and so the maximum delay of a record. */
const POLL_MS = 100
/** A read that returns this many records is followed by another one immediately. */
const FULL_PAGE = 1000
/** Delay before a failed batch is retried; doubles with each failure. */
const RETRY_DELAY_MS = 100
const MAX_RETRY_DELAY_MS = 10_000

/**
 * Enables the streams that mappings read, and invokes the mapped functions with their records, until stopped. A new
 * mapping starts with the writes from now on; a changed one continues at its position.
 */
export async function startStreamSources(options: Options, running?: StreamSources): Promise<StreamSources> {
  const { mappings, tables, engine } = options
  const versions = new Map(mappings.map((mapping) => [mapping.id, JSON.stringify(mapping)]))
  const previousSources = [...(running?.sources ?? [])]
  const outdated = previousSources.filter(([id, { version }]) => versions.get(id) !== version)
  await Promise.all(outdated.map(([, source]) => source.stop()))
  await configureStreams(engine, tables)

  const sources = new Map<string, Source>()
  for (const mapping of mappings) {
    const version = versions.get(mapping.id) ?? ''
    const previous = running?.sources.get(mapping.id)
    const streamArn = await streamArnOf(engine, mapping.table)
    const isSameStream = previous?.position.streamArn === streamArn
    if (isSameStream && previous.version === version) sources.set(mapping.id, previous)
    else {
      if (previous?.version === version) await previous.stop()
      const position = isSameStream ? previous.position : await openAtEnd(engine, streamArn)
      sources.set(mapping.id, { version, position, stop: startFeed(mapping, position, options) })
    }
  }
  return {
    sources,
    stop: async () => {
      await Promise.all([...sources.values()].map(({ stop }) => stop()))
    },
  }
}

/** Invokes a function with records in stream order. Returns a function that stops it at the last processed record. */
function startFeed(mapping: StreamMapping, position: StreamPosition, options: Options): () => Promise<void> {
  const { engine, log } = options
  const stopped = new AbortController()
  const source = { arn: mapping.arn, streamArn: position.streamArn, region: engine.region }

  const poll = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      try {
        const read = await position.advance(async (newRecords, done) => {
          const records = newRecords.map((record) => recordOf(record, source))
          for (const { batch, end } of batchesOf(records, mapping)) {
            stopped.signal.throwIfAborted()
            await deliver(batch, 0)
            done(end)
          }
        }, stopped.signal)
        if (read < FULL_PAGE) await sleep(POLL_MS, undefined, { signal: stopped.signal })
      } catch (error) {
        if (stopped.signal.aborted) return
        log(`The stream of ${mapping.table} cannot be read: ${(error as Error).message}`)
        await sleep(1000, undefined, { signal: stopped.signal }).catch(() => {})
      }
    }
  }

  /** Blocks later records until these are processed or discarded, as Lambda does. */
  const deliver = async (records: readonly DynamoDBRecord[], attempt: number): Promise<void> => {
    const pool = options.getPool(mapping.functionArn)
    const outcome = await pool.invoke(JSON.stringify({ Records: records }))
    for (const line of outcome.diagnostics) log(`${pool.name}: ${line}`)
    if (outcome.ok) return
    stopped.signal.throwIfAborted()
    if (mapping.maxRetries !== null && attempt >= mapping.maxRetries) {
      log(`${pool.name}: ${records.length} records were discarded after ${attempt + 1} attempts`)
      const report = discardedBatch(records, { functionArn: mapping.functionArn, attempts: attempt + 1 })
      if (mapping.failureQueue) await options.sendToQueue(mapping.failureQueue, JSON.stringify(report))
      return
    }
    const delayMs = Math.min(RETRY_DELAY_MS * 2 ** attempt, MAX_RETRY_DELAY_MS)
    await sleep(delayMs, undefined, { signal: stopped.signal })
    await deliver(records, attempt + 1)
  }

  const polling = poll()
  return async () => {
    stopped.abort()
    await polling
  }
}
