import { DeleteTableCommand, DescribeTableCommand, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, inject, it } from 'vitest'
import { freshRealisticTable } from '../realistic-table.ts'
import { failure, realisticItems } from './items.ts'
import { latency } from './latency.ts'

it('takes the latency of each operation from its options, jittered by the seed', () => {
  const draws = (seed: number, jitter?: number) => {
    const { draw } = latency({ writeMs: 10, ...(jitter !== undefined && { jitter }) }, seed)
    return Array.from({ length: 200 }, () => [draw('TransactWriteItems'), draw('PutItem'), draw('Query')])
  }
  expect(new Set(draws(1, 0).flat())).toEqual(new Set([18, 10, 5]))
  expect(draws(1)).toEqual(draws(1))
  expect(draws(1)).not.toEqual(draws(2))
  const transactions = draws(1).map(([transaction]) => transaction as number)
  expect([Math.min(...transactions), Math.max(...transactions)]).toEqual([13, 23])
})

it('passes other requests on as they are, and does not count them', async () => {
  const { plainClient, name, dynamodb } = await freshRealisticTable()
  const { Table } = await plainClient.send(new DescribeTableCommand({ TableName: name }))
  expect(Table?.TableName).toBe(name)
  const [direct, proxied] = await Promise.all([fetch(inject('dynamodb')), fetch(dynamodb.endpoint)])
  expect([proxied.status, await proxied.text()]).toEqual([direct.status, await direct.text()])
  expect(dynamodb.counts().calls).toEqual({})
})

it('returns the errors of the engine', async () => {
  const items = await realisticItems()
  const missing = items.client.send(new GetItemCommand({ TableName: 'missing', Key: items.keyOf('a') }))
  expect(await failure(missing)).toMatchObject({ name: 'ResourceNotFoundException', status: 400 })
  expect(await failure(items.transact([items.update('a'), items.remove('a')]))).toMatchObject({
    name: 'ValidationException',
  })
  await items.client.send(new DeleteTableCommand({ TableName: items.name }))
  expect(await failure(items.putItem('a'))).toMatchObject({ name: 'ResourceNotFoundException' })
})

it('counts calls by operation until it is reset', async () => {
  const items = await realisticItems()
  await items.putItem('a')
  await items.count('a')
  await items.count('a')
  expect(items.dynamodb.counts()).toEqual({ calls: { PutItem: 1, GetItem: 2 }, faults: {}, conflicts: {} })
  items.dynamodb.resetCounts()
  expect(items.dynamodb.counts()).toEqual({ calls: {}, faults: {}, conflicts: {} })
})

it('runs calls on different items at the same time', async () => {
  const items = await realisticItems()
  const { faults } = items.dynamodb
  const both = [faults.next({ kind: 'held' }), faults.next({ kind: 'held' })]
  const calls = [items.transact([items.update('a')]), items.transact([items.update('b')])]
  await Promise.all(both.map(({ reached }) => reached))
  for (const { release } of both) release()
  await Promise.all(calls)
})

it('executes operations without HTTP as for a client, and passes others by its faults', async () => {
  const items = await realisticItems()
  const { execute, pass, faults, counts } = items.dynamodb
  await items.putItem('a')
  const body = JSON.stringify({ TableName: items.name, Key: items.keyOf('a') })
  faults.next({ kind: 'request-lost' })
  expect(await execute('GetItem', body)).toBe('disconnect')
  faults.next({ kind: 'request-lost' })
  // The engine returns the attributes of an item in any order.
  const item = { Item: { pk: { S: 'a' }, sk: { S: 'item' } } }
  const { status, body: passed } = (await pass('GetItem', body)) as { status: number; body: string }
  expect([status, JSON.parse(passed)]).toEqual([200, item])
  faults.clear()
  const executed = (await execute('GetItem', body)) as { status: number; body: string }
  expect([executed.status, JSON.parse(executed.body)]).toEqual([200, item])
  expect(counts().calls.GetItem).toBe(2)
})
