/** The clients of tests must behave like the SDK's: otherwise tests would prove nothing about it. */
import { GetCommand, QueryCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { expect, it } from 'vitest'
import { documentClient } from '../../../shared/runtime/document-client.ts'
import { freshRealisticTable, SHORT_LATENCY } from '../realistic-table.ts'
import { plainClient } from './plain-client.ts'
import { lighten, shortCut } from './short-cut.ts'

const VALUES = {
  text: 'ü',
  empty: '',
  number: -1.5,
  yes: true,
  no: false,
  nothing: null,
  list: [1, 'a', [null]],
  map: { Key: { Item: 'x' }, deep: { n: 0 } },
  bytes: new Uint8Array([0, 255, 7]),
}

async function clients() {
  const opened = await freshRealisticTable({ latency: SHORT_LATENCY })
  const { execute, pass } = opened.dynamodb
  return { ...opened, plain: plainClient(pass), short: lighten(documentClient(shortCut(execute))) }
}

const put = (name: string, sk: string, ClientRequestToken?: string) =>
  new TransactWriteCommand({
    ClientRequestToken,
    TransactItems: [
      {
        Put: {
          TableName: name,
          Item: { pk: 'p', sk, ...VALUES },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
    ],
  })

const reason = (error: { CancellationReasons?: { Code?: string }[] }) => error.CancellationReasons?.[0]?.Code

it('writes and reads the same values with every client', async () => {
  const { client, plain, short, name } = await clients()
  for (const [index, writer] of [client, plain, short].entries()) {
    await writer.send(put(name, `${index}`))
    for (const reader of [client, plain, short]) {
      const Key = { pk: 'p', sk: `${index}` }
      const { Item } = await reader.send(new GetCommand({ TableName: name, Key }))
      expect(Item).toEqual({ ...Key, ...VALUES })
      expect(Item?.bytes.constructor).toBe(Uint8Array)
    }
  }
})

it('reads pages and reports rejected writes with every client', async () => {
  const { client, plain, short, name } = await clients()
  for (const sk of ['0', '1', '2']) await client.send(put(name, sk))
  for (const one of [client, plain, short]) {
    const query = {
      TableName: name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'p' },
      Limit: 2,
    }
    const first = await one.send(new QueryCommand(query))
    expect(first.LastEvaluatedKey).toEqual({ pk: 'p', sk: '1' })
    const ExclusiveStartKey = first.LastEvaluatedKey
    expect((await one.send(new QueryCommand({ ...query, ExclusiveStartKey }))).Items?.[0]?.sk).toBe('2')
    const rejected = await one.send(put(name, '0')).catch((error) => error)
    expect([rejected.name, reason(rejected)]).toEqual([
      'TransactionCanceledException',
      'ConditionalCheckFailed',
    ])
    const update = {
      TableName: name,
      Key: { pk: 'p', sk: 'none' },
      UpdateExpression: 'SET n = :n',
      ExpressionAttributeValues: { ':n': 1 },
      ConditionExpression: 'attribute_exists(pk)',
    }
    const failed = await one.send(new UpdateCommand(update)).catch((error) => error)
    expect([failed.name, failed.$metadata.httpStatusCode]).toEqual(['ConditionalCheckFailedException', 400])
  }
})

it('returns updated values with every client', async () => {
  const { client, plain, short, name } = await clients()
  const update = {
    TableName: name,
    Key: { pk: 'p', sk: 'counter' },
    UpdateExpression: 'ADD n :n',
    ExpressionAttributeValues: { ':n': 1 },
    ReturnValues: 'UPDATED_NEW' as const,
  }
  for (const [index, one] of [client, plain, short].entries())
    expect((await one.send(new UpdateCommand(update))).Attributes).toEqual({ n: index + 1 })
})

it('repeats a lost request with its token, and gives up after eight attempts, without HTTP', async () => {
  const { short, name, dynamodb } = await clients()
  dynamodb.faults.next({ kind: 'response-lost' })
  await short.send(put(name, '0', 'token'))
  expect(dynamodb.counts().calls.TransactWriteItems).toBe(2)
  dynamodb.faults.next({ kind: 'request-lost', times: 8 })
  const failed = await short.send(put(name, '1', 'other')).catch((error) => error)
  expect([failed.code, failed.$metadata.attempts]).toEqual(['ECONNRESET', 8])
})

it('rejects values that are not stored as they are, with every client', async () => {
  const { client, plain, short, name } = await clients()
  for (const [what, value] of Object.entries({
    date: new Date(),
    instance: new (class Example {})(),
    large: 2 ** 53 + 2,
    nan: Number.NaN,
  }))
    for (const one of [client, plain, short]) {
      const Item = { pk: 'p', sk: what, value }
      const command = new TransactWriteCommand({ TransactItems: [{ Put: { TableName: name, Item } }] })
      await expect(one.send(command), what).rejects.toThrow()
    }
})

it('ends a call whose signal is aborted, with every client', async () => {
  const { client, plain, short, name } = await clients()
  const command = () => new GetCommand({ TableName: name, Key: { pk: 'p', sk: 's' } })
  for (const one of [client, plain, short]) {
    const aborted = one.send(command(), { abortSignal: AbortSignal.abort() })
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
  }
})
