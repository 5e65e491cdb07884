import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ListTablesCommand,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'
import { expect, inject, it, onTestFinished, vi } from 'vitest'
import { createTables } from '../../../../infra/local/engines/tables.ts'
import { resolveTemplate } from '../../../../infra/local/template/template.ts'
import { enginePid, startedEngine } from './started-engine.ts'

const KEYS = [
  { AttributeName: 'pk', KeyType: 'HASH' },
  { AttributeName: 'sk', KeyType: 'RANGE' },
]
const TABLE = {
  TableName: 'clinic',
  AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: KEYS,
  BillingMode: 'PAY_PER_REQUEST',
  StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
  TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
  SSESpecification: { SSEEnabled: true },
}

const templateOf = (Properties: object, tableSuffix = '') =>
  resolveTemplate(
    { Resources: { Table: { Type: 'AWS::DynamoDB::Table', Properties: { ...Properties } } } },
    { region: 'us-east-1', stackName: 'Test', tableSuffix, queueUrl: (name) => name },
  )

it('creates a table with its keys and time to live, but without a stream', async () => {
  const { engine, client, deaths } = await startedEngine()
  const template = templateOf(TABLE)
  await createTables(template, engine.endpoint, 'us-east-1')
  const { Table } = await client.send(new DescribeTableCommand({ TableName: 'clinic' }))
  expect(Table).toMatchObject({ KeySchema: KEYS })
  expect(Table?.LatestStreamArn).toBeUndefined()
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: 'clinic' }))
  expect(TimeToLiveDescription?.AttributeName).toBe('ttl')
  await engine.stop()
  expect(deaths).toEqual([])
})

it('persists a table in a data directory, and throws an error when the stack’s keys differ', async () => {
  const dataDir = join(mkdtempSync(join(inject('runFolder'), 'data-')), 'new')
  const first = await startedEngine(dataDir)
  await createTables(templateOf(TABLE), first.engine.endpoint, 'us-east-1')
  await first.client.send(
    new PutItemCommand({ TableName: 'clinic', Item: { pk: { S: 'a' }, sk: { S: 'b' } } }),
  )
  await first.engine.stop()

  const { engine, client } = await startedEngine(dataDir)
  await createTables(templateOf(TABLE), engine.endpoint, 'us-east-1')
  expect((await client.send(new ScanCommand({ TableName: 'clinic' }))).Count).toBe(1)
  const other = templateOf({ ...TABLE, KeySchema: KEYS.slice(0, 1) })
  await expect(createTables(other, engine.endpoint, 'us-east-1')).rejects.toThrow(
    /clinic exists with keys \(pk\+sk\)/,
  )
})

it('throws an error for a table with indexes', async () => {
  const { engine } = await startedEngine()
  const template = templateOf({ ...TABLE, GlobalSecondaryIndexes: [{ IndexName: 'by-name' }] })
  await expect(createTables(template, engine.endpoint, 'us-east-1')).rejects.toThrow(/^Table has indexes/)
})

it('reports that the engine has exited', async () => {
  const { engine, deaths } = await startedEngine()
  process.kill(enginePid(engine.endpoint) ?? Number.NaN, 'SIGKILL')
  await expect.poll(() => deaths).toEqual([expect.stringMatching(/^The DynamoDB engine exited unexpectedly/)])
})

it('separates the tables of stacks that share a DynamoDB, and finds the tables of a data directory again', async () => {
  const own = await startedEngine()
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', own.engine.endpoint)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const suffixes = await Promise.all(
    [undefined, undefined, '/data/a', '/data/a', '/data/b'].map(
      async (dataDir) => (await startedEngine(dataDir)).engine.tableSuffix,
    ),
  )
  expect(own.engine.tableSuffix).toBe('')
  expect(suffixes[2]).toBe(suffixes[3])
  expect(new Set(suffixes).size).toBe(4)
  for (const tableSuffix of suffixes)
    await createTables(templateOf(TABLE, tableSuffix), own.engine.endpoint, 'us-east-1')
  const { TableNames } = await own.client.send(new ListTablesCommand({}))
  expect(TableNames?.toSorted()).toEqual([...new Set(suffixes)].map((suffix) => `clinic${suffix}`).sort())
})
