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

  it('succeeds without a second effect when the response of the first was lost', async () => {
    const items = await realisticItems()
    items.dynamodb.faults.next({ kind: 'response-lost' })
    await failure(items.transact([items.update('a')], 'token'))
    await items.transact([items.update('a')], 'token')
    expect(await items.count('a')).toBe(1)
  })

  it('succeeds although another transaction is in flight on its items, since it has committed', async () => {
    const items = await realisticItems()
    await items.transact([items.update('a')], 'token')
    const finish = await items.hold(() => items.transact([items.update('a')], 'other'))
    await items.transact([items.update('a')], 'token')
    await finish()
    expect(await items.count('a')).toBe(2)
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

  it('runs when the first was cancelled by its condition', async () => {
    const items = await realisticItems()
    await items.putItem('a')
    const entries = [items.requireMissing('a'), items.update('b')]
    await failure(items.transact(entries, 'token'))
    await items.deleteItem('a')
    await items.transact(entries, 'token')
    expect(await items.count('b')).toBe(1)
  })

  it('runs when the first was cancelled by a conflict', async () => {
    const items = await realisticItems()
    const finish = await items.hold(() => items.transact([items.update('a')]))
    await failure(items.transact([items.update('a')], 'token'))
    await finish()
    await items.transact([items.update('a')], 'token')
    expect(await items.count('a')).toBe(2)
  })

  it('runs again ten minutes after the commit', async () => {
    let now = 0
    const items = await realisticItems({ now: () => now })
    await items.transact([items.update('a')], 'token')
    now = 599_999
    await items.transact([items.update('a')], 'token')
    expect(await items.count('a')).toBe(1)
    now = 600_000
    await items.transact([items.update('a')], 'token')
    expect(await items.count('a')).toBe(2)
  })
})
