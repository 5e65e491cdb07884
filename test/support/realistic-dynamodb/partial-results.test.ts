import { BatchGetItemCommand, QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { expect, it } from 'vitest'
import { freshRealisticTable, SHORT_LATENCY } from '../realistic-table.ts'
import { realisticItems } from './items.ts'

it('a partial batch reports the keys that were not read', async () => {
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

it.each([true, false])(
  'a partial page has no items, and the next page has them all (ascending: %s)',
  async (forward) => {
    const { dynamodb, query } = await partition(['b', 'c', 'd'])
    dynamodb.faults.next({ kind: 'partial-result', processed: 0 })
    const page = await query({ ScanIndexForward: forward })
    expect([page.Items, page.Count]).toEqual([[], 0])
    expect(page.LastEvaluatedKey).toMatchObject({ pk: { S: 'p' } })
    const start = { ExclusiveStartKey: page.LastEvaluatedKey }
    const rest = await query({ ...start, ScanIndexForward: forward })
    const expected = forward ? ['b', 'c', 'd'] : ['d', 'c', 'b']
    expect(rest.Items?.map(({ sk }) => sk?.S)).toEqual(expected)
  },
)
