import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda'
import { expect, inject, it, onTestFinished } from 'vitest'
import { createTables } from '../../../../infra/local/engines/tables.ts'
import { eventSourceMappings } from '../../../../infra/local/events/event-source-mappings.ts'
import { type StreamSources, startStreamSources } from '../../../../infra/local/events/stream-sources.ts'
import { configureStreams } from '../../../../infra/local/events/table-streams.ts'
import { resolveTemplate } from '../../../../infra/local/template/template.ts'
import { ENGINE_ACCESS } from '../../../support/engine-access.ts'
import { functionThat } from './recording-function.ts'

const REGION = 'eu-central-1'
const engine = { endpoint: inject('dynamodb'), region: REGION }
let tables = 0

/** Creates a table whose stream is mapped to a function with the given behaviour. */
async function mappedTo(
  act: (event: DynamoDBStreamEvent, attempt: number) => unknown,
  mapping: object = {},
  StreamViewType = 'KEYS_ONLY',
) {
  const table = `streamed-${process.pid}-${++tables}`
  const template = resolveTemplate(
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
            ...mapping,
          },
        },
      },
    },
    { region: REGION, stackName: 'Test', queueUrl: (name) => name },
  )
  await createTables(template, engine.endpoint, REGION)

  const lines: string[] = []
  const sent: [arn: string, body: any][] = []
  const events: DynamoDBRecord[][] = []
  const { pool } = functionThat((event: DynamoDBStreamEvent, attempt) => {
    events.push(event.Records)
    return act(event, attempt)
  })
  const { streams, tableStreams } = eventSourceMappings(template, REGION)
  let sources: StreamSources | undefined
  const start = async () => {
    await configureStreams(engine, tableStreams)
    sources = await startStreamSources({
      mappings: streams,
      engine,
      sendToQueue: async (arn, body) => sent.push([arn, JSON.parse(body)]),
      getPool: () => pool,
      log: (line) => lines.push(line),
    })
    return sources
  }
  const client = new DynamoDBClient({ ...ENGINE_ACCESS, endpoint: engine.endpoint })
  onTestFinished(async () => {
    await sources?.stop()
    client.destroy()
    await configureStreams(engine, [{ table, view: null }])
  })
  const document = DynamoDBDocumentClient.from(client)
  /** Writes the items in one transaction. */
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
  return { table, events, lines, sent, start, put, remove }
}

const keys = (records: readonly DynamoDBRecord[]) => records.map(({ dynamodb }) => dynamodb?.Keys?.sk?.S)

it('invokes the function with a change in the format of Lambda', async () => {
  const { table, events, start, put } = await mappedTo(() => undefined)
  await start()
  const writtenAt = Date.now()
  await put(['a', '1'])
  await expect.poll(() => events.length, { interval: 5 }).toBe(1)
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

it('passes on the images that the stream view contains', async () => {
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

it('invokes the function only for records that match a filter', async () => {
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

it('retries a failed batch before later ones and discards it after the last attempt', async () => {
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
    'Function: 1 records were discarded after 3 attempts',
  ])
})

it('reports the position of a discarded batch to the destination, but not its records', async () => {
  const queue = `arn:aws:sqs:${REGION}:000000000000:Failures`
  const { events, sent, start, put } = await mappedTo(
    ({ Records }) => (keys(Records).includes('bad') ? new Error('x') : undefined),
    {
      BatchSize: 2,
      MaximumRetryAttempts: 1,
      DestinationConfig: { OnFailure: { Destination: queue } },
    },
  )
  await start()
  await put(['a', 'bad'], ['a', 'worse'], ['a', 'good'])
  await expect.poll(() => events.length).toBe(3)
  const [first, last] = events[0] ?? []
  expect(sent).toEqual([
    [
      queue,
      expect.objectContaining({
        requestContext: expect.objectContaining({
          condition: 'RetryAttemptsExhausted',
          approximateInvokeCount: 2,
        }),
        DDBStreamBatchInfo: expect.objectContaining({
          batchSize: 2,
          startSequenceNumber: first?.dynamodb?.SequenceNumber,
          endSequenceNumber: last?.dynamodb?.SequenceNumber,
          streamArn: first?.eventSourceARN,
        }),
      }),
    ],
  ])
  expect(JSON.stringify(sent)).not.toContain('worse')
})

it('stops between two batches', async () => {
  const { events, start, put } = await mappedTo(() => sleep(100).then(() => undefined), { BatchSize: 1 })
  const sources = await start()
  await put(['a', '1'], ['a', '2'], ['a', '3'])
  await expect.poll(() => events.length).toBe(1)
  await sources.stop()
  await sleep(250)
  expect(keys(events.flat())).toEqual(['1'])
})
