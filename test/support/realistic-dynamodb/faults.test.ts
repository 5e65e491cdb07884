import { describe, expect, it } from 'vitest'
import { failure, realisticItems } from './items.ts'

describe('a fault at a chosen call', () => {
  it.each([
    ['request-lost', undefined],
    ['response-lost', 1],
  ] as const)('cuts the connection (%s)', async (kind, count) => {
    const items = await realisticItems()
    items.dynamodb.faults.next({ kind })
    const { code, status } = await failure(items.transact([items.update('a')]))
    expect([code, status]).toEqual(['ECONNRESET', undefined])
    expect(await items.count('a')).toBe(count)
  })

  it.each([
    ['error-before-commit', undefined],
    ['error-after-commit', 1],
  ] as const)('fails with InternalServerError (%s)', async (kind, count) => {
    const items = await realisticItems()
    items.dynamodb.faults.next({ kind })
    const error = await failure(items.updateItem('a'))
    expect(error).toMatchObject({ name: 'InternalServerError', status: 500 })
    expect(await items.count('a')).toBe(count)
  })

  it.each(['ProvisionedThroughputExceededException', 'ThrottlingException'] as const)(
    'throttles the call with %s',
    async (error) => {
      const items = await realisticItems()
      items.dynamodb.faults.next({ kind: 'throttled', error })
      expect(await failure(items.updateItem('a'))).toMatchObject({ name: error, status: 400 })
      expect(await items.count('a')).toBeUndefined()
    },
  )

  it('cancels a transaction with ThrottlingError at its items', async () => {
    const items = await realisticItems()
    items.dynamodb.faults.next({ kind: 'items-throttled' })
    expect(await failure(items.transact([items.update('a'), items.update('b')]))).toMatchObject({
      name: 'TransactionCanceledException',
      codes: ['ThrottlingError', 'ThrottlingError'],
    })
    expect(await items.count('a')).toBeUndefined()
  })

  it('rejects a transaction as already in progress', async () => {
    const items = await realisticItems()
    items.dynamodb.faults.next({ kind: 'transaction-in-progress' })
    expect(await failure(items.transact([items.update('a')], 'token'))).toMatchObject({
      name: 'TransactionInProgressException',
    })
    await items.transact([items.update('a')], 'token')
    expect(await items.count('a')).toBe(1)
  })

  it('is forgotten when faults are cleared, and a held call continues', async () => {
    const items = await realisticItems()
    const { reached } = items.dynamodb.faults.next({ kind: 'held' })
    items.dynamodb.faults.next({ kind: 'throttled', operation: 'GetItem' })
    const held = items.putItem('a')
    await reached
    items.dynamodb.faults.clear()
    await held
    expect(await items.count('a')).toBeUndefined()
  })
})
