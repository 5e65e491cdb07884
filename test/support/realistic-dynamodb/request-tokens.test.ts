import { describe, expect, it } from 'vitest'
import { failure, realisticItems } from './items.ts'

describe('a transaction with the token of an earlier one', () => {
  it('succeeds without a second effect when the first committed', async () => {
    const items = await realisticItems()
    const first = await items.transact([items.update('a')], 'token')
    const second = await items.transact([items.update('a')], 'token')
    expect(await items.count('a')).toBe(1)
    expect(first.ConsumedCapacity?.[0]).toHaveProperty('WriteCapacityUnits')
    expect(second.ConsumedCapacity?.[0]).toHaveProperty('ReadCapacityUnits')
    expect(second.ConsumedCapacity?.[0]).not.toHaveProperty('WriteCapacityUnits')
  })

  it('is rejected with TransactionInProgressException while the first is in flight', async () => {
    const items = await realisticItems()
    const finish = await items.hold(() => items.transact([items.update('a')], 'token'))
    expect(await failure(items.transact([items.update('a')], 'token'))).toMatchObject({
      name: 'TransactionInProgressException',
      status: 400,
    })
    await finish()
    await items.transact([items.update('a')], 'token')
    expect(await items.count('a')).toBe(1)
    expect(items.dynamodb.counts().conflicts).toEqual({})
  })

  it.each(['in flight', 'committed'])(
    'is rejected with IdempotentParameterMismatchException when its parameters differ (%s)',
    async (state) => {
      const items = await realisticItems()
      const finish = await items.hold(() => items.transact([items.update('a')], 'token'))
      if (state === 'committed') await finish()
      expect(await failure(items.transact([items.update('b')], 'token'))).toMatchObject({
        name: 'IdempotentParameterMismatchException',
        status: 400,
      })
      await finish()
      expect(await items.count('b')).toBeUndefined()
    },
  )
})
