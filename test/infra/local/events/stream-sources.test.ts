import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda'
import { expect, inject, it, onTestFinished } from 'vitest'
import { createTables } from '../../../../infra/local/engines/tables.ts'
import { eventSourceMappings } from '../../../../infra/local/events/event-source-mappings.ts'
import { recordsToRetry } from '../../../../infra/local/events/stream-batch.ts'
import { type StreamSources, startStreamSources } from '../../../../infra/local/events/stream-sources.ts'
import { configureStreams } from '../../../../infra/local/events/table-streams.ts'
import type { Outcome } from '../../../../infra/local/functions/pool.ts'
import { resolveTemplate } from '../../../../infra/local/template/template.ts'

const REGION = 'eu-central-1'
const engine = { endpoint: inject('dynamodb'), region: REGION }
let tables = 0

type Act = (event: DynamoDBStreamEvent, attempt: number) => unknown

/** A function that fails with the errors it is given, and the batches that it got. */
function functionThat(act: Act) {
  const events: DynamoDBRecord[][] = []
  const invoke = async (text: string): Promise<Outcome> => {
    const event = JSON.parse(text) as DynamoDBStreamEvent
    events.push(event.Records)
    const answer = await act(event, events.length)
    return answer instanceof Error
      ? { ok: false, error: { errorType: 'Error', errorMessage: 'x', trace: [] }, diagnostics: ['Error: x'] }
      : { ok: true, payload: JSON.stringify(answer ?? null), diagnostics: [] }
  }
  return { events, pool: { name: 'Function', invoke, update: () => {}, close: async () => {} } }
}

/** A table of its own whose stream is mapped to the given function. */
async function mappedTo(act: Act, mapping: object = {}, StreamViewType = 'KEYS_ONLY') {
  const table = `streamed-${process.pid}-${++tables}`
  const templateWith = (more: object) =>
    resolveTemplate(
      {
        Resources: {
          Table: {
            Type: 'AWS::DynamoDB::Table',
            Properties: {
              TableName: table,
              AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({
                AttributeName,
                AttributeType: 'S',
              })),
              KeySchema: [
                { AttributeName: 'pk', KeyType: 'HASH' },
                { AttributeName: 'sk', KeyType: 'RANGE' },
              ],
              BillingMode: 'PAY_PER_REQUEST',
              StreamSpecification: { StreamViewType },
            },
          },
          Function: { Type: 'AWS::Lambda::Function' },
          Mapping: {
            Type: 'AWS::Lambda::EventSourceMapping',
            Properties: {
              EventSourceArn: { 'Fn::GetAtt': ['Table', 'StreamArn'] },
              FunctionName: { Ref: 'Function' },
              StartingPosition: 'TRIM_HORIZON',
              ...more,
            },
          },
        },
      },
      { region: REGION, stackName: 'Test', queueUrl: (name) => name },
    )
  await createTables(templateWith({}), engine.endpoint, REGION)

  const lines: string[] = []
  const { pool, events } = functionThat(act)
  const optionsWith = (more: object) => {
    const { streams, tableStreams } = eventSourceMappings(templateWith(more), REGION)
    return {
      mappings: streams,
      tables: tableStreams,
      engine,
      getPool: () => pool,
      log: (line: string) => lines.push(line),
    }
  }

  let sources: StreamSources | undefined
  const start = async (more: object = mapping) => {
    sources = await startStreamSources(optionsWith(more), sources)
    return sources
  }
  /** As when the runner ends and begins anew: it knows of no position. */
  const restart = async (between: () => Promise<void>) => {
    await sources?.stop()
    sources = undefined
    await between()
    await start()
  }
  const client = new DynamoDBClient({
    endpoint: engine.endpoint,
    region: REGION,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
  onTestFinished(async () => {
    await sources?.stop()
    client.destroy()
    await configureStreams(engine, [{ table, view: null }])
  })
  const document = DynamoDBDocumentClient.from(client)
  /** In one transaction. */
  const put = (...items: [pk: string, sk: string][]) =>
    document.send(
      new TransactWriteCommand({
        TransactItems: items.map(([pk, sk]) => ({ Put: { TableName: table, Item: { pk, sk, text: 'x' } } })),
      }),
    )
  const remove = (pk: string, sk: string) =>
    document.send(
      new TransactWriteCommand({ TransactItems: [{ Delete: { TableName: table, Key: { pk, sk } } }] }),
    )
  return { table, events, lines, start, restart, put, remove }
}

const keys = (records: readonly DynamoDBRecord[]) => records.map(({ dynamodb }) => dynamodb?.Keys?.sk?.S)

it('hands a change over as Lambda does, a fraction of a second later', async () => {
  const { table, events, start, put } = await mappedTo(() => undefined)
  await start()
  const writtenAt = Date.now()
  await put(['a', '1'])
  await expect.poll(() => events.length, { interval: 5 }).toBe(1)
  expect(Date.now() - writtenAt).toBeLessThan(500)
  expect(events[0]).toEqual([
    {
      eventID: expect.stringMatching(/^[0-9a-f]{32}$/),
      eventName: 'INSERT',
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: REGION,
      eventSourceARN: `arn:aws:dynamodb:${REGION}:000000000000:table/${table}/stream/local`,
      dynamodb: {
        ApproximateCreationDateTime: expect.closeTo(writtenAt / 1000, -1),
        Keys: { pk: { S: 'a' }, sk: { S: '1' } },
        SequenceNumber: expect.stringMatching(/^\d+$/),
        SizeBytes: expect.any(Number),
        StreamViewType: 'KEYS_ONLY',
      },
    },
  ])
})

it('shows what the stream shows', async () => {
  const { events, start, put, remove } = await mappedTo(() => undefined, {}, 'NEW_AND_OLD_IMAGES')
  await start()
  await put(['a', '1'])
  await remove('a', '1')
  await expect.poll(() => events.flat().length).toBe(2)
  const item = { pk: { S: 'a' }, sk: { S: '1' }, text: { S: 'x' } }
  expect(events.flat()).toMatchObject([
    { eventName: 'INSERT', dynamodb: { NewImage: item } },
    { eventName: 'REMOVE', dynamodb: { OldImage: item } },
  ])
})

it('keeps the order of writes, a batch at a time, each once', async () => {
  let running = 0
  const { events, start, put } = await mappedTo(
    async () => {
      expect(++running).toBe(1)
      await sleep(5)
      running--
    },
    { BatchSize: 4 },
  )
  await start()
  for (const at of [0, 3, 6, 9]) await put(['a', `${at}`], ['b', `${at + 1}`], ['a', `${at + 2}`])
  await expect.poll(() => events.flat().length).toBe(12)
  await sleep(250)
  expect(keys(events.flat())).toEqual(Array.from({ length: 12 }, (_, at) => `${at}`))
  expect(Math.max(...events.map(({ length }) => length))).toBeLessThanOrEqual(4)
  expect(new Set(events.flat().map(({ eventID }) => eventID)).size).toBe(12)
})

it('hands over only what a filter lets through, and does not call the function for the rest', async () => {
  const filter = { eventName: ['INSERT'], dynamodb: { Keys: { pk: { S: [{ prefix: 'due#event#' }] } } } }
  const { events, start, put, remove } = await mappedTo(() => undefined, {
    FilterCriteria: { Filters: [{ Pattern: JSON.stringify(filter) }] },
  })
  await start()
  await put(['clinic#1', '1'], ['due#event#0', '2'], ['due#sms#0', '3'])
  await remove('due#event#0', '2')
  await put(['clinic#1', '4'])
  await put(['due#event#1', '5'])
  await expect.poll(() => events.flat().length).toBe(2)
  expect(keys(events.flat())).toEqual(['2', '5'])
})

it('tries a failed batch again before what comes after it, and gives it up in the end', async () => {
  const { events, lines, start, put } = await mappedTo(
    ({ Records }) => (keys(Records).includes('bad') ? new Error('x') : undefined),
    { BatchSize: 1, MaximumRetryAttempts: 2 },
  )
  await start()
  await put(['a', 'bad'], ['a', 'good'])
  await expect.poll(() => events.length).toBe(4)
  expect(keys(events.flat())).toEqual(['bad', 'bad', 'bad', 'good'])
  expect(lines).toEqual([
    ...Array.from({ length: 3 }, () => 'Function: Error: x'),
    'Function: 1 of 1 records are given up, after 3 attempts',
  ])
})

it('tries again until it succeeds when nothing else is said', async () => {
  const { events, lines, start, put } = await mappedTo((_event, attempt) =>
    attempt < 4 ? new Error('x') : undefined,
  )
  await start()
  await put(['a', '1'])
  await expect.poll(() => events.length, { timeout: 5000 }).toBe(4)
  await put(['a', '2'])
  await expect.poll(() => events.length).toBe(5)
  expect(lines.length).toBe(3)
})

it('halves a failing batch, so that one bad record takes few with it', async () => {
  const { events, lines, start, put } = await mappedTo(
    ({ Records }) => (keys(Records).includes('3') ? new Error('x') : undefined),
    { BisectBatchOnFunctionError: true, MaximumRetryAttempts: 2 },
  )
  await start()
  await put(['a', '1'], ['a', '2'], ['a', '3'], ['a', '4'])
  await expect.poll(() => events.length).toBe(5)
  expect(events.map(keys)).toEqual([['1', '2', '3', '4'], ['1', '2'], ['3', '4'], ['3'], ['4']])
  expect(lines.at(-1)).toBe('Function: 1 of 1 records are given up, after 3 attempts')
})

it('goes back to the first record that the function reports', async () => {
  const { events, start, put } = await mappedTo(
    ({ Records }, attempt) => ({
      batchItemFailures: attempt === 1 ? [{ itemIdentifier: Records[1]?.dynamodb?.SequenceNumber }] : [],
    }),
    { FunctionResponseTypes: ['ReportBatchItemFailures'] },
  )
  await start()
  await put(['a', '1'], ['a', '2'], ['a', '3'])
  await expect.poll(() => events.length).toBe(2)
  expect(events.map(keys)).toEqual([
    ['1', '2', '3'],
    ['2', '3'],
  ])
})

it('begins with what is written after it has started, at first and after a restart', async () => {
  const { events, start, restart, put } = await mappedTo(() => undefined)
  await put(['a', 'seeded'])
  await start()
  await put(['a', '1'])
  await expect.poll(() => events.length).toBe(1)
  await restart(async () => void (await put(['a', 'meanwhile'])))
  await put(['a', '2'])
  await expect.poll(() => events.length).toBe(2)
  expect(keys(events.flat())).toEqual(['1', '2'])
})

it('goes on with the same poller while its mapping is the same', async () => {
  const { events, start, put } = await mappedTo(() => undefined)
  const first = await start()
  const second = await start()
  expect(second.sources.get('Mapping')).toBe(first.sources.get('Mapping'))
  await put(['a', '1'])
  await expect.poll(() => events.length).toBe(1)
  await sleep(250)
  expect(keys(events.flat())).toEqual(['1'])
})

it('goes on where it was when its mapping has changed: nothing is missed, and nothing seen twice', async () => {
  const { events, start, put } = await mappedTo(() => sleep(20).then(() => undefined))
  await start({ BatchSize: 2 })
  const written: string[] = []
  const writing = (async () => {
    for (let at = 0; at < 60; at++) {
      written.push(`${at}`)
      await put(['a', `${at}`])
    }
  })()
  for (const BatchSize of [3, 4, 5]) {
    await sleep(40)
    await start({ BatchSize })
  }
  await writing
  await expect.poll(() => events.flat().length, { timeout: 5000 }).toBe(60)
  await sleep(250)
  expect(keys(events.flat())).toEqual(written)
})

it('ends between two batches of what it has read, and goes on with the second', async () => {
  const { events, start, put } = await mappedTo(() => sleep(100).then(() => undefined), { BatchSize: 1 })
  await start()
  await put(['a', '1'], ['a', '2'], ['a', '3'])
  await expect.poll(() => events.length).toBe(1)
  await (await start()).stop()
  expect(keys(events.flat())).toEqual(['1'])
  await start({ BatchSize: 2 })
  await expect.poll(() => events.length).toBe(2)
  expect(events.map(keys)).toEqual([['1'], ['2', '3']])
})

it('has what was failing tried again by the next poller', async () => {
  let failing = true
  const { events, start, put } = await mappedTo(() => (failing ? new Error('x') : undefined))
  await start()
  await put(['a', '1'])
  await expect.poll(() => events.length).toBeGreaterThan(1)
  failing = false
  const before = events.length
  await start({ BatchSize: 7 })
  await expect.poll(() => events.length).toBe(before + 1)
})

it('switches the stream off when nothing reads it any more', async () => {
  const { events, start, put } = await mappedTo(() => undefined)
  await start()
  await start({ Enabled: false })
  await put(['a', 'unseen'])
  await start()
  await put(['a', '1'])
  await expect.poll(() => events.length).toBe(1)
  expect(keys(events.flat())).toEqual(['1'])
})

/** An engine that answers GetRecords with the given, one after the other, and then with nothing new. */
async function fakeEngine(answers: { status?: number; records?: string[]; ends?: boolean }[]) {
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
      const { records = [], ends = false } = answers.shift() ?? {}
      if (ends) shards.push({ ShardId: 'second' })
      const Records = records.map((SequenceNumber) => ({ eventName: 'INSERT', dynamodb: { SequenceNumber } }))
      return { Records, ...(!ends && { NextShardIterator: `${ShardIterator}+` }) }
    },
  }
  const server = createServer(async (request, response) => {
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    const input = (await json(request)) as object
    response.statusCode = action === 'GetRecords' ? (answers[0]?.status ?? 200) : 200
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
  const { pool, events } = functionThat(() => undefined)
  const mapping = { id: 'Mapping', arn: 'arn', table: 'table', functionArn: 'arn', batchSize: 10 }
  const sources = await startStreamSources({
    mappings: [{ ...mapping, partialResponses: false, maxRetries: null, bisect: false, filters: [] }],
    tables: [{ table: 'table', view: 'KEYS_ONLY' }],
    engine,
    getPool: () => pool,
    log: (line) => lines.push(line),
  })
  onTestFinished(sources.stop)
  return { lines, events, sequence: () => events.flat().map(({ dynamodb }) => dynamodb?.SequenceNumber) }
}

it('says what keeps it from reading, and goes on when that is over', async () => {
  const { engine, iterators } = await fakeEngine([{ status: 500 }, { records: ['1'] }])
  const { lines, sequence } = await reading(engine)
  await expect.poll(sequence, { timeout: 5000 }).toEqual(['1'])
  expect(lines).toEqual([expect.stringMatching(/^The stream of table cannot be read: .* refuses GetRecords/)])
  expect(iterators.slice(0, 2)).toEqual(['first/LATEST', 'first/LATEST'])
})

it('follows a shard that ends into those that come after it', async () => {
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

const record = (SequenceNumber: string) => ({ dynamodb: { SequenceNumber } })

it.each([
  ['nothing, without reports', false, { batchItemFailures: [{ itemIdentifier: 'a' }] }, []],
  ['nothing, when nothing is reported', true, null, []],
  ['nothing, when no failure is reported', true, { batchItemFailures: [] }, []],
  ['the failed one and all after it', true, { batchItemFailures: [{ itemIdentifier: 'b' }] }, ['b', 'c']],
  [
    'all after the first of several',
    true,
    { batchItemFailures: [{ itemIdentifier: 'c' }, { itemIdentifier: 'b' }] },
    ['b', 'c'],
  ],
  ['all, for an unknown record', true, { batchItemFailures: [{ itemIdentifier: 'd' }] }, ['a', 'b', 'c']],
  ['all, for a report of another form', true, { batchItemFailures: ['a', null] }, ['a', 'b', 'c']],
  ['all, for a report that is no list', true, { batchItemFailures: 'a' }, ['a', 'b', 'c']],
])('repeats %s', (_what, partial, answer, expected) => {
  const left = recordsToRetry(['a', 'b', 'c'].map(record), JSON.stringify(answer), partial)
  expect(left.map(({ dynamodb }) => dynamodb?.SequenceNumber)).toEqual(expected)
})
