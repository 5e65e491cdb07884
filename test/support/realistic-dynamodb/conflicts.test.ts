import { GetItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { freshRealisticTable } from '../realistic-table.ts'
import { failure, realisticItems } from './items.ts'

type Items = Awaited<ReturnType<typeof realisticItems>>

describe('a transaction that overlaps another in flight', () => {
  it.each(['update', 'put', 'remove', 'requireMissing'] as const)(
    'is cancelled with TransactionConflict at exactly the shared item (%s)',
    async (kind) => {
      const items = await realisticItems()
      const finish = await items.hold(() => items.transact([items.update('b'), items.requireMissing('a')]))
      const error = await failure(items.transact([items.update('c'), items[kind]('a'), items.update('d')]))
      expect(error).toEqual({
        name: 'TransactionCanceledException',
        status: 400,
        message:
          'Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict, None]',
        codes: ['None', 'TransactionConflict', 'None'],
        code: undefined,
      })
      expect(await items.count('c')).toBeUndefined()
      await finish()
      expect(await items.count('b')).toBe(1)
      expect(items.dynamodb.counts().conflicts).toEqual({ 'a|item': 1 })
    },
  )
})

describe('a single write', () => {
  it.each(['putItem', 'updateItem'] as const)(
    'is rejected with TransactionConflictException while a transaction is in flight (%s)',
    async (write) => {
      const items = await realisticItems()
      const finish = await items.hold(() => items.transact([items.update('a')]))
      expect(await failure(items[write]('a'))).toMatchObject({
        name: 'TransactionConflictException',
        message: 'Transaction is ongoing for the item',
        status: 400,
      })
      await items[write]('b')
      await finish()
      expect(await items.count('a')).toBe(1)
    },
  )

  it.each(['putItem', 'updateItem', 'batchWrite'] as const)(
    'in flight cancels a transaction on its item (%s)',
    async (write) => {
      const items = await realisticItems()
      const finish = await items.hold(() => items[write]('a') as Promise<unknown>)
      expect(await failure(items.transact([items.update('a'), items.update('b')]))).toMatchObject({
        codes: ['TransactionConflict', 'None'],
      })
      await finish()
      await items.transact([items.update('a')])
    },
  )
})

it.each([
  ['a transaction', (items: Items) => items.transact([items.update('a')])],
  ['a single write', (items: Items) => items.updateItem('a')],
])('a read in a transaction is cancelled when %s is in flight', async (_what, write) => {
  const items = await realisticItems()
  const finish = await items.hold<unknown>(() => write(items))
  expect(await failure(items.transactGet('b', 'a'))).toMatchObject({
    name: 'TransactionCanceledException',
    codes: ['None', 'TransactionConflict'],
  })
  await finish()
  expect((await items.transactGet('b', 'a')).Responses).toHaveLength(2)
})

it('makes simultaneous transactions conflict by their latency alone', async () => {
  const { dynamodb, plainClient, name } = await freshRealisticTable({ latency: { transactionMs: 100 } })
  const Update = {
    TableName: name,
    Key: { pk: { S: 'a' }, sk: { S: 'item' } },
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  }
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, () =>
      plainClient.send(new TransactWriteItemsCommand({ TransactItems: [{ Update }] })),
    ),
  )
  const committed = results.filter(({ status }) => status === 'fulfilled').length
  const { Item } = await plainClient.send(new GetItemCommand({ TableName: name, Key: Update.Key }))
  expect(Item?.n).toEqual({ N: String(committed) })
  expect(committed).toBeLessThan(10)
  expect(dynamodb.counts().conflicts).toEqual({ 'a|item': 10 - committed })
})
