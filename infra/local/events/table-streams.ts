import type { DescribeTableOutput, StreamViewType } from '@aws-sdk/client-dynamodb'

/** A table and the view of its stream; null for a table without a stream. */
export type TableStream = { readonly table: string; readonly view: StreamViewType | null }

/** The DynamoDB engine. */
export type TableEngine = { readonly endpoint: string; readonly region: string }

/** A change of an item as GetRecords returns it in the JSON protocol. */
export type StreamRecord = {
  readonly eventName: string
  readonly dynamodb: {
    readonly ApproximateCreationDateTime: number
    readonly Keys: object
    readonly NewImage?: object
    readonly OldImage?: object
    readonly SequenceNumber: string
    readonly SizeBytes: number
    readonly StreamViewType: string
  }
}

/** The position of one reader in a stream. */
export type StreamPosition = Awaited<ReturnType<typeof openAtEnd>>

type RecordHandler = (records: readonly StreamRecord[]) => Promise<void>

/** Enables or disables the tables' streams. Streams with the right view are left as they are. */
export async function configureStreams(engine: TableEngine, tables: readonly TableStream[]): Promise<void> {
  for (const { table, view } of tables) {
    const current = await describeStream(engine, table)
    if (current.view === view) continue
    const set = (StreamSpecification: object) =>
      call(engine, TABLES_API, 'UpdateTable', { TableName: table, StreamSpecification })
    if (current.view) await set({ StreamEnabled: false })
    if (view) await set({ StreamEnabled: true, StreamViewType: view })
  }
}

/** The engine's ARN of a table's stream, which changes each time the stream is enabled. */
export async function streamArnOf(engine: TableEngine, table: string): Promise<string> {
  const { arn } = await describeStream(engine, table)
  if (!arn) throw new Error(`The table ${table} has no stream.`)
  return arn
}

/** A position after all current records. */
export async function openAtEnd(engine: TableEngine, streamArn: string) {
  const known = new Set<string>()
  /** The iterators to continue with. */
  const shards = new Map<string, string>()
  const openShards = async (ShardIteratorType: 'LATEST' | 'TRIM_HORIZON'): Promise<void> => {
    for (const ShardId of await listShards(engine, streamArn)) {
      if (known.has(ShardId)) continue
      const input = { StreamArn: streamArn, ShardId, ShardIteratorType }
      const { ShardIterator } = await call<GetShardIteratorResponse>(
        engine,
        STREAMS_API,
        'GetShardIterator',
        input,
      )
      if (ShardIterator) shards.set(ShardId, ShardIterator)
      known.add(ShardId)
    }
  }
  await openShards('LATEST')
  return {
    streamArn,
    /** Reads the next records of every shard and returns their number. The position moves past them when `handle` resolves. */
    advance: async (handle: RecordHandler, signal: AbortSignal): Promise<number> => {
      let read = 0
      for (const [id, ShardIterator] of shards) {
        const { Records, NextShardIterator } = await call<GetRecordsResponse>(
          engine,
          STREAMS_API,
          'GetRecords',
          { ShardIterator },
          signal,
        )
        if (Records.length > 0) await handle(Records)
        read += Records.length
        if (NextShardIterator) shards.set(id, NextShardIterator)
        else {
          // A closed shard continues in others. The embedded engine has a single shard that never closes.
          shards.delete(id)
          await openShards('TRIM_HORIZON')
        }
      }
      return read
    },
  }
}

type GetShardIteratorResponse = { readonly ShardIterator?: string }
type GetRecordsResponse = { readonly Records: readonly StreamRecord[]; readonly NextShardIterator?: string }
type DescribeStreamResponse = {
  readonly StreamDescription: {
    readonly Shards: readonly { readonly ShardId: string }[]
    readonly LastEvaluatedShardId?: string
  }
}

async function describeStream(engine: TableEngine, TableName: string) {
  const { Table } = await call<DescribeTableOutput>(engine, TABLES_API, 'DescribeTable', { TableName })
  const { StreamSpecification: stream, LatestStreamArn: arn } = Table ?? {}
  return { arn, view: (stream?.StreamEnabled && stream.StreamViewType) || null }
}

async function listShards(engine: TableEngine, StreamArn: string): Promise<string[]> {
  const ids: string[] = []
  let ExclusiveStartShardId: string | undefined
  do {
    const input = { StreamArn, ExclusiveStartShardId }
    const { StreamDescription: page } = await call<DescribeStreamResponse>(
      engine,
      STREAMS_API,
      'DescribeStream',
      input,
    )
    ids.push(...page.Shards.map(({ ShardId }) => ShardId))
    ExclusiveStartShardId = page.LastEvaluatedShardId
  } while (ExclusiveStartShardId)
  return ids
}

const TABLES_API = 'DynamoDB_20120810'
const STREAMS_API = 'DynamoDBStreams_20120810'

/** Engines expect a signature but do not check it, so no client is needed. */
async function call<Output>(
  { endpoint, region }: TableEngine,
  api: string,
  action: string,
  input: object,
  signal?: AbortSignal,
): Promise<Output> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `${api}.${action}`,
      'x-amz-date': '20260101T000000Z',
      authorization: `AWS4-HMAC-SHA256 Credential=local/20260101/${region}/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0`,
    },
    body: JSON.stringify(input),
    signal: signal ?? null,
  })
  const responseText = await response.text()
  if (!response.ok) throw new Error(`DynamoDB rejected ${action}: ${responseText}`)
  return JSON.parse(responseText)
}
