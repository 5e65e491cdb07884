import { expect, it } from 'vitest'
import { realisticItems } from './items.ts'

it('counts calls by operation until it is reset', async () => {
  const items = await realisticItems()
  await items.putItem('a')
  await items.count('a')
  await items.count('a')
  expect(items.dynamodb.counts()).toEqual({ calls: { PutItem: 1, GetItem: 2 }, faults: {}, conflicts: {} })
  items.dynamodb.resetCounts()
  expect(items.dynamodb.counts()).toEqual({ calls: {}, faults: {}, conflicts: {} })
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
