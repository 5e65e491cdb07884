import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  BatchWriteItemCommand,
  CreateTableCommand,
  type DynamoDBClient,
  GetItemCommand,
} from '@aws-sdk/client-dynamodb'
import { expect, inject, it, onTestFinished } from 'vitest'
import { configureStreams, openAtEnd, streamArnOf } from '../../../../infra/local/events/table-streams.ts'
import { startedEngine } from './started-engine.ts'

const TABLE = 'streamed'

async function engineFor(dataDir?: string) {
  const { engine, client } = await startedEngine(dataDir, true)
  const put = (from: number, count: number, text = 'x') => {
    const items = Array.from({ length: count }, (_, at) => ({ pk: { S: `${from + at}` }, text: { S: text } }))
    const RequestItems = { [TABLE]: items.map((Item) => ({ PutRequest: { Item } })) }
    return client.send(new BatchWriteItemCommand({ RequestItems }))
  }
  const { endpoint, stop } = engine
  return { engine: { endpoint, region: 'us-east-1' }, client, stop, put }
}

const createTable = (client: DynamoDBClient) =>
  client.send(
    new CreateTableCommand({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    }),
  )

const switched = (view: 'KEYS_ONLY' | null) => [{ table: TABLE, view }]

const dataFolder = () => mkdtempSync(join(inject('runFolder'), 'streams-'))

it('makes the engine use an index instead of a scan', async () => {
  const folder = dataFolder()
  await engineFor(folder)
  const database = new DatabaseSync(join(folder, 'table.db'), { readOnly: true })
  onTestFinished(() => database.close())
  // The engine's own queries: the number of the next record, and the records after one.
  const number = 'SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records'
  const records = 'SELECT keys_json FROM _stream_records'
  const after = "AND shard_id = 's' AND CAST(sequence_number AS INTEGER) > 1"
  for (const query of [
    `${number} WHERE table_name = 't'`,
    `${records} WHERE table_name = 't' ${after} ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT 9`,
  ]) {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${query}`).all()
    expect(plan).toEqual([expect.objectContaining({ detail: expect.stringMatching(/INDEX _stream_order/) })])
  }
})

it('deletes the records of earlier runs and continues their sequence numbers', async () => {
  const folder = dataFolder()
  const first = await engineFor(folder)
  await createTable(first.client)
  await configureStreams(first.engine, switched('KEYS_ONLY'))
  await first.put(0, 20)
  await first.stop()

  const second = await engineFor(folder)
  const database = new DatabaseSync(join(folder, 'table.db'), { readOnly: true })
  onTestFinished(() => database.close())
  expect(database.prepare('SELECT COUNT(*) AS left FROM _stream_records').get()).toEqual({ left: 1 })
  const position = await openAtEnd(second.engine, await streamArnOf(second.engine, TABLE))
  await second.put(20, 1)
  const numbers: string[] = []
  await position.advance(
    async (records) => void numbers.push(...records.map(({ dynamodb }) => dynamodb.SequenceNumber)),
    new AbortController().signal,
  )
  expect(numbers).toEqual(['21'])
})

it('needs no data folder and leaves no file behind when data is not persisted', async () => {
  const { client, engine, put } = await engineFor()
  if (process.platform === 'linux')
    expect(readdirSync('/dev/shm').filter((name) => name.startsWith('clinic-local-'))).toEqual([])
  await createTable(client)
  await configureStreams(engine, switched('KEYS_ONLY'))
  // More than the engine's cache and its journal hold.
  for (let at = 0; at < 24; at++) await put(at * 25, 25, 'x'.repeat(20_000))
  const { Item } = await client.send(new GetItemCommand({ TableName: TABLE, Key: { pk: { S: '0' } } }))
  expect(Item?.text?.S?.length).toBe(20_000)
})
