import { expect, it } from 'vitest'
import { ConditionFailed, UnavailableError } from '../../../../shared/store/table/errors.ts'
import { freshRealisticTable, SHORT_LATENCY } from '../../../support/realistic-table.ts'

it('continues after an outage at which a function gives up, with many concurrent calls', async () => {
  const { table, operatorTable, dynamodb } = await freshRealisticTable({ latency: SHORT_LATENCY })
  dynamodb.faults.next({ kind: 'error-before-commit', operation: 'GetItem', times: 100_000 })
  const given = table.get({ pk: 'a', sk: 'b' })
  await expect(given).rejects.toThrow(UnavailableError)
  const reads = Promise.all(Array.from({ length: 32 }, (_, n) => operatorTable.get({ pk: 'a', sk: `${n}` })))
  await expect.poll(() => dynamodb.counts().calls.GetItem ?? 0, { timeout: 20_000 }).toBeGreaterThan(100)
  dynamodb.faults.clear()
  expect(await reads).toEqual(Array(32).fill(undefined))
})

it('does not repeat a call that the table rejects', async () => {
  const { operatorTable, dynamodb } = await freshRealisticTable({ latency: SHORT_LATENCY })
  const change = {
    UpdateExpression: 'SET n = :n',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':n': 1 },
  }
  await expect(operatorTable.update({ pk: 'a', sk: 'b' }, change)).rejects.toThrow(ConditionFailed)
  expect(dynamodb.counts().calls.UpdateItem).toBe(1)
})
