import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import type { DynamoDBStreamEvent } from 'aws-lambda'
import { expect, it, onTestFinished } from 'vitest'
import { startStreamSources } from '../../../../infra/local/events/stream-sources.ts'
import { functionThat } from './recording-function.ts'

const REGION = 'eu-central-1'

/** An engine that returns the given responses to GetRecords in turn, and then no records. */
async function fakeEngine(responses: { status?: number; records?: string[]; ends?: boolean }[]) {
  const shards = [{ ShardId: 'first' }]
  const iterators: string[] = []
  const actions: Record<string, (input: any) => object> = {
    DescribeTable: () => ({
      Table: {
        LatestStreamArn: 'stream',
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
      },
    }),
    DescribeStream: ({ ExclusiveStartShardId: after }) => {
      const at = after === undefined ? 0 : 1
      const more = shards.length > at + 1 && { LastEvaluatedShardId: shards[at]?.ShardId }
      return { StreamDescription: { Shards: shards.slice(at, at + 1), ...more } }
    },
    GetShardIterator: ({ ShardId, ShardIteratorType }) => ({
      ShardIterator: `${ShardId}/${ShardIteratorType}`,
    }),
    GetRecords: ({ ShardIterator }) => {
      iterators.push(ShardIterator)
      const { records = [], ends = false } = responses.shift() ?? {}
      if (ends) shards.push({ ShardId: 'second' })
      const Records = records.map((SequenceNumber) => ({ eventName: 'INSERT', dynamodb: { SequenceNumber } }))
      return { Records, ...(!ends && { NextShardIterator: `${ShardIterator}+` }) }
    },
  }
  const server = createServer(async (request, response) => {
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    const input = (await json(request)) as object
    response.statusCode = action === 'GetRecords' ? (responses[0]?.status ?? 200) : 200
    response.end(JSON.stringify(actions[action]?.(input)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.closeAllConnections())
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  return { engine: { endpoint: `http://127.0.0.1:${port}`, region: REGION }, iterators }
}

async function reading(engine: { endpoint: string; region: string }) {
  const lines: string[] = []
  const { pool, events } = functionThat<DynamoDBStreamEvent>(() => undefined)
  const mapping = { id: 'Mapping', arn: 'arn', table: 'table', functionArn: 'arn', batchSize: 10 }
  const sources = await startStreamSources({
    mappings: [
      {
        ...mapping,
        maxRetries: null,
        failureQueue: null,
        filters: [],
      },
    ],
    engine,
    sendToQueue: async () => {},
    getPool: () => pool,
    log: (line) => lines.push(line),
  })
  onTestFinished(sources.stop)
  const sequence = () =>
    events.flatMap(({ Records }) => Records).map(({ dynamodb }) => dynamodb?.SequenceNumber)
  return { lines, sequence }
}

it('logs why a stream cannot be read and continues when it can', async () => {
  const { engine, iterators } = await fakeEngine([{ status: 500 }, { records: ['1'] }])
  const { lines, sequence } = await reading(engine)
  await expect.poll(sequence, { timeout: 5000 }).toEqual(['1'])
  expect(lines).toEqual([
    expect.stringMatching(/^The stream of table cannot be read: .* rejected GetRecords/),
  ])
  expect(iterators.slice(0, 2)).toEqual(['first/LATEST', 'first/LATEST'])
})

it('continues with the next shard when one ends', async () => {
  const { engine, iterators } = await fakeEngine([
    { records: ['1'] },
    { records: ['2'], ends: true },
    { records: ['3'] },
    { records: ['4'] },
  ])
  const { sequence } = await reading(engine)
  await expect.poll(sequence).toEqual(['1', '2', '3', '4'])
  expect(iterators.slice(0, 4)).toEqual([
    'first/LATEST',
    'first/LATEST+',
    'second/TRIM_HORIZON',
    'second/TRIM_HORIZON+',
  ])
})
