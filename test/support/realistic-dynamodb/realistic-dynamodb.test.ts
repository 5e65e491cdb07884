/** What the engine behind the proxy lacks, and DynamoDB has: conflicts, request tokens, partial results; and faults on demand. */
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  type TransactWriteItemsCommandInput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { freshRealisticTable, type RealisticTable } from '../realistic-table.ts'
import type { InjectedFault } from './faults.ts'
import type { LatencyOptions } from './latency.ts'

const NO_LATENCY: LatencyOptions = { transactionMs: 0, writeMs: 0, readMs: 0, rejectionMs: 0 }

let db: RealisticTable
beforeEach(async () => {
  db = await freshRealisticTable({ latency: NO_LATENCY })
})

// Items are named by their partition key; all have the same sort key.
const keyOf = (pk: string) => ({ pk: { S: pk }, sk: { S: 'item' } })
const target = (pk: string) => ({ TableName: db.name, Key: keyOf(pk) })
const increment = (pk: string) => ({
  ...target(pk),
  UpdateExpression: 'ADD n :one',
  ExpressionAttributeValues: { ':one': { N: '1' } },
})

type Entry = NonNullable<TransactWriteItemsCommandInput['TransactItems']>[number]
const entries = {
  update: (pk: string): Entry => ({ Update: increment(pk) }),
  put: (pk: string): Entry => ({ Put: { TableName: db.name, Item: keyOf(pk) } }),
  remove: (pk: string): Entry => ({ Delete: target(pk) }),
  requireMissing: (pk: string): Entry => ({
    ConditionCheck: { ...target(pk), ConditionExpression: 'attribute_not_exists(pk)' },
  }),
}
const transact = (TransactItems: Entry[], ClientRequestToken?: string) =>
  db.plainClient.send(new TransactWriteItemsCommand({ TransactItems, ClientRequestToken }))
const updateAll = (...pks: string[]) => transact(pks.map(entries.update))
const batchWrite = (...pks: string[]) => {
  const puts = pks.map((pk) => ({ PutRequest: { Item: keyOf(pk) } }))
  return db.plainClient.send(new BatchWriteItemCommand({ RequestItems: { [db.name]: puts } }))
}
const writes = {
  putItem: (pk: string) => db.plainClient.send(new PutItemCommand({ TableName: db.name, Item: keyOf(pk) })),
  updateItem: (pk: string) => db.plainClient.send(new UpdateItemCommand(increment(pk))),
}

/** The item's counter; undefined when the item, or its counter, is missing. */
async function count(pk: string): Promise<number | undefined> {
  const { Item } = await db.plainClient.send(new GetItemCommand({ ...target(pk), ConsistentRead: true }))
  return Item?.n?.N === undefined ? undefined : Number(Item.n.N)
}

/** Starts a call on item `a`, and waits until its items are in flight. The function lets it finish. */
async function hold(call: () => Promise<unknown>) {
  const { reached, release } = db.dynamodb.faults.next({ kind: 'held', keyPrefix: 'a|' })
  const result = call()
  await reached
  return () => {
    release()
    return result
  }
}

/** The error that a call fails with, in the parts that tests compare. */
async function failure(call: Promise<unknown>) {
  const error: any = await call.then(
    () => expect.unreachable('the call succeeded'),
    (error) => error,
  )
  const { name, $metadata, CancellationReasons, code } = error
  const codes = CancellationReasons?.map(({ Code }: { Code: string }) => Code)
  return { name, status: $metadata?.httpStatusCode, codes, code }
}

describe('a transaction that overlaps another in flight', () => {
  it.each(['update', 'put', 'remove', 'requireMissing'] as const)(
    'is cancelled with TransactionConflict at exactly the shared item (%s)',
    async (kind) => {
      const finish = await hold(() => transact([entries.update('b'), entries.requireMissing('a')]))
      const error = await failure(transact([entries.update('c'), entries[kind]('a'), entries.update('d')]))
      const codes = ['None', 'TransactionConflict', 'None']
      expect(error).toMatchObject({ name: 'TransactionCanceledException', status: 400, codes })
      expect(await count('c')).toBeUndefined()
      await finish()
      expect(await count('b')).toBe(1)
      expect(db.dynamodb.counts().conflicts).toEqual({ 'a|item': 1 })
    },
  )

  it('is so by their latency alone', async () => {
    db = await freshRealisticTable({ latency: { transactionMs: 100 } })
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => updateAll('a')))
    const committed = results.filter(({ status }) => status === 'fulfilled').length
    expect(await count('a')).toBe(committed)
    expect(committed).toBeLessThan(10)
    expect(db.dynamodb.counts().conflicts).toEqual({ 'a|item': 10 - committed })
  })
})

it.each(['putItem', 'updateItem'] as const)(
  'a single write conflicts with a transaction in flight (%s)',
  async (write) => {
    const finish = await hold(() => updateAll('a'))
    const name = 'TransactionConflictException'
    expect(await failure(writes[write]('a'))).toMatchObject({ name, status: 400 })
    await writes[write]('b')
    await finish()
    expect(await count('a')).toBe(1)
  },
)

it.each([
  ['putItem', writes.putItem],
  ['updateItem', writes.updateItem],
  ['batchWrite', batchWrite],
])('a single write in flight cancels a transaction on its item (%s)', async (_, write) => {
  const finish = await hold(() => write('a') as Promise<unknown>)
  expect((await failure(updateAll('a', 'b'))).codes).toEqual(['TransactionConflict', 'None'])
  await finish()
  await updateAll('a')
})

it.each([
  ['a transaction', () => updateAll('a')],
  ['a single write', () => writes.updateItem('a')],
])('a read in a transaction is cancelled when %s is in flight', async (_, write) => {
  const gets = ['b', 'a'].map((pk) => ({ Get: target(pk) }))
  const read = () => db.plainClient.send(new TransactGetItemsCommand({ TransactItems: gets }))
  const finish = await hold(write)
  expect((await failure(read())).codes).toEqual(['None', 'TransactionConflict'])
  await finish()
  expect((await read()).Responses).toHaveLength(2)
})

it('a transaction with the token of an earlier one has one effect, and is rejected while that is in flight', async () => {
  const repeated = () => transact([entries.update('a')], 'token')
  const finish = await hold(repeated)
  expect((await failure(repeated())).name).toBe('TransactionInProgressException')
  await finish()
  await repeated()
  expect(await count('a')).toBe(1)
  expect(db.dynamodb.counts().conflicts).toEqual({})
})

describe('a fault at a chosen call', () => {
  const THROUGHPUT = 'ProvisionedThroughputExceededException'
  it.each<[InjectedFault, object, number | undefined]>([
    [{ kind: 'request-lost' }, { code: 'ECONNRESET', status: undefined }, undefined],
    [{ kind: 'response-lost' }, { code: 'ECONNRESET', status: undefined }, 1],
    [{ kind: 'error-before-commit' }, { name: 'InternalServerError', status: 500 }, undefined],
    [{ kind: 'error-after-commit' }, { name: 'InternalServerError', status: 500 }, 1],
    [{ kind: 'throttled', error: THROUGHPUT }, { name: THROUGHPUT, status: 400 }, undefined],
    [{ kind: 'throttled', error: 'ThrottlingException' }, { name: 'ThrottlingException' }, undefined],
    [{ kind: 'items-throttled' }, { codes: ['ThrottlingError', 'ThrottlingError'] }, undefined],
    [{ kind: 'transaction-in-progress' }, { name: 'TransactionInProgressException' }, undefined],
  ])('%j is this error, after which the call has had this effect', async (fault, error, effect) => {
    db.dynamodb.faults.next(fault)
    expect(await failure(updateAll('a', 'b'))).toMatchObject(error)
    expect(await count('a')).toBe(effect)
  })

  it('is forgotten when faults are cleared, and a held call continues', async () => {
    const { reached } = db.dynamodb.faults.next({ kind: 'held' })
    db.dynamodb.faults.next({ kind: 'throttled', operation: 'GetItem' })
    const held = writes.putItem('a')
    await reached
    db.dynamodb.faults.clear()
    await held
    expect(await count('a')).toBeUndefined()
  })
})

it('a partial batch reports the keys that were not read', async () => {
  await batchWrite('a', 'b', 'c')
  db.dynamodb.faults.next({ kind: 'partial-result', processed: 1 })
  const request = { Keys: ['a', 'b', 'c'].map(keyOf), ConsistentRead: true }
  const read = await db.plainClient.send(new BatchGetItemCommand({ RequestItems: { [db.name]: request } }))
  expect(read.Responses).toEqual({ [db.name]: [keyOf('a')] })
  expect(read.UnprocessedKeys).toEqual({ [db.name]: { ...request, Keys: [keyOf('b'), keyOf('c')] } })
})

it.each([true, false])(
  'a partial page has no items, and the next page has them all (ascending: %s)',
  async (ScanIndexForward) => {
    for (const sk of ['b', 'c', 'd']) await db.table.transact([db.table.putWrite({ pk: 'p', sk })])
    db.dynamodb.faults.next({ kind: 'partial-result', processed: 0 })
    const query = {
      TableName: db.name,
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':pk': { S: 'p' }, ':from': { S: 'b' }, ':to': { S: 'd' } },
      ScanIndexForward,
    }
    const page = await db.plainClient.send(new QueryCommand(query))
    expect([page.Items, page.Count]).toEqual([[], 0])
    const start = { ExclusiveStartKey: page.LastEvaluatedKey }
    const rest = await db.plainClient.send(new QueryCommand({ ...query, ...start }))
    const expected = ScanIndexForward ? ['b', 'c', 'd'] : ['d', 'c', 'b']
    expect(rest.Items?.map(({ sk }) => sk?.S)).toEqual(expected)
  },
)
