import {
  BatchGetItemCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { freshRealisticTable, SHORT_LATENCY } from '../realistic-table.ts'
import { realisticItems } from './items.ts'

describe('a partial batch', () => {
  it('reports the keys that were not read', async () => {
    const items = await realisticItems()
    await items.batchWrite('a', 'b', 'c')
    items.dynamodb.faults.next({ kind: 'partial-result', processed: 1 })
    const Keys = ['a', 'b', 'c'].map(items.keyOf)
    const read = await items.client.send(
      new BatchGetItemCommand({ RequestItems: { [items.name]: { Keys, ConsistentRead: true } } }),
    )
    expect(read.Responses).toEqual({ [items.name]: [items.keyOf('a')] })
    expect(read.UnprocessedKeys).toEqual({
      [items.name]: { Keys: [items.keyOf('b'), items.keyOf('c')], ConsistentRead: true },
    })
  })

  it('reports the items that were not written', async () => {
    const items = await realisticItems()
    items.dynamodb.faults.next({ kind: 'partial-result', processed: 1 })
    const { UnprocessedItems } = await items.batchWrite('a', 'b')
    expect(UnprocessedItems).toEqual({ [items.name]: [{ PutRequest: { Item: items.keyOf('b') } }] })
    const { Items } = await items.client.send(new ScanCommand({ TableName: items.name }))
    expect(Items).toEqual([items.keyOf('a')])
  })

  it('leaves at least one item, and processes at least one, when their number is drawn', async () => {
    const items = await realisticItems()
    items.dynamodb.faults.next({ kind: 'partial-result', times: 20 })
    for (let round = 0; round < 20; round++) {
      const { UnprocessedItems } = await items.batchWrite('a', 'b', 'c')
      const left = UnprocessedItems?.[items.name]?.length
      expect([1, 2]).toContain(left)
    }
  })
})

describe('a partial page', () => {
  async function partition(sks: string[]) {
    const { dynamodb, plainClient, name, table } = await freshRealisticTable({ latency: SHORT_LATENCY })
    for (const sk of sks) await table.transact([table.putWrite({ pk: 'p', sk })])
    const query = (input: Partial<QueryCommandInput> = {}) =>
      plainClient.send(
        new QueryCommand({
          TableName: name,
          KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
          ExpressionAttributeValues: { ':pk': { S: 'p' }, ':from': { S: 'b' }, ':to': { S: 'd' } },
          ...input,
        }),
      )
    return { dynamodb, query, table }
  }

  it('ends early with a LastEvaluatedKey', async () => {
    const { dynamodb, query } = await partition(['b', 'c', 'd'])
    dynamodb.faults.next({ kind: 'partial-result', processed: 2, keyPrefix: 'p|' })
    const page = await query()
    expect(page.Items?.map(({ sk }) => sk?.S)).toEqual(['b', 'c'])
    const rest = await query({ ExclusiveStartKey: page.LastEvaluatedKey })
    expect(rest.Items?.map(({ sk }) => sk?.S)).toEqual(['d'])
  })

  it.each([true, false])('has no items, and the next page has them all (ascending: %s)', async (forward) => {
    const { dynamodb, query } = await partition(['b', 'c', 'd'])
    dynamodb.faults.next({ kind: 'partial-result', processed: 0 })
    const page = await query({ ScanIndexForward: forward })
    expect([page.Items, page.Count]).toEqual([[], 0])
    expect(page.LastEvaluatedKey).toMatchObject({ pk: { S: 'p' } })
    const start = { ExclusiveStartKey: page.LastEvaluatedKey }
    const rest = await query({ ...start, ScanIndexForward: forward })
    const expected = forward ? ['b', 'c', 'd'] : ['d', 'c', 'b']
    expect(rest.Items?.map(({ sk }) => sk?.S)).toEqual(expected)
  })

  it('without items in the middle returns the key that it started at', async () => {
    const { dynamodb, query } = await partition(['b', 'c', 'd'])
    const first = await query({ Limit: 1 })
    dynamodb.faults.next({ kind: 'partial-result', processed: 0 })
    const { Items, LastEvaluatedKey } = await query({ ExclusiveStartKey: first.LastEvaluatedKey })
    expect([Items, LastEvaluatedKey]).toEqual([[], first.LastEvaluatedKey])
  })

  it('of a query without a result is that result', async () => {
    const { dynamodb, query } = await partition([])
    dynamodb.faults.next({ kind: 'partial-result', processed: 0 })
    const { Items, LastEvaluatedKey } = await query()
    expect([Items, LastEvaluatedKey]).toEqual([[], undefined])
  })

  it('of any size makes a reader of all pages miss nothing', async () => {
    const sks = Array.from({ length: 12 }, (_, index) => `s${String(index).padStart(2, '0')}`)
    const { dynamodb, table } = await partition(sks)
    dynamodb.faults.random({ seed: 5, rates: { 'partial-result': 0.7 } })
    for (const descending of [false, true]) {
      const found = await table.query({ pk: 'p', limit: 100, descending })
      expect(found.map(({ sk }) => sk)).toEqual(descending ? sks.toReversed() : sks)
    }
    expect(dynamodb.counts().faults['partial-result']?.Query).toBeGreaterThan(0)
  })
})
