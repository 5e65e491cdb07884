import { describe, expect, it } from 'vitest'
import { failure, realisticItems } from './items.ts'

describe('a transaction with the token of an earlier one', () => {
  it('succeeds without a second effect when the first committed', async () => {
    const items = await realisticItems()
    await items.transact([items.update('a')], 'token')
    await items.transact([items.update('a')], 'token')
    expect(await items.count('a')).toBe(1)
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
})
