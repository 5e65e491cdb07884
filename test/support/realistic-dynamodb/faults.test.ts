import { describe, expect, it } from 'vitest'
import { patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { freshRealisticTable, SHORT_LATENCY } from '../realistic-table.ts'
import { aPatient, newClinic } from '../table.ts'
import type { DataOperation, EngineCall } from './call.ts'
import { createFaults, type InjectedFault } from './faults.ts'
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

  it('delays the call with its items in flight', async () => {
    const items = await realisticItems()
    const { reached } = items.dynamodb.faults.next({ kind: 'delayed', milliseconds: 200 })
    const delayed = items.transact([items.update('a')])
    await reached
    expect(await failure(items.updateItem('a'))).toMatchObject({ name: 'TransactionConflictException' })
    await delayed
    await items.updateItem('a')
  })

  it('is chosen by operation, key and predicate', async () => {
    const items = await realisticItems()
    const { faults } = items.dynamodb
    faults.next({
      kind: 'error-before-commit',
      operation: 'PutItem',
      keyPrefix: 'b|',
      matches: ({ input }) => input.Item.pk.S === 'b',
    })
    await items.updateItem('b')
    await items.putItem('a')
    expect(faults.pending()).toBe(1)
    await failure(items.putItem('b'))
    expect(faults.pending()).toBe(0)
    await items.putItem('b')
  })

  it('is applied as often as it is planned', async () => {
    const items = await realisticItems()
    items.dynamodb.faults.next({ kind: 'throttled', times: 2 })
    await failure(items.putItem('a'))
    await failure(items.putItem('a'))
    await items.putItem('a')
    expect(items.dynamodb.counts()).toEqual({
      calls: { PutItem: 3 },
      faults: { throttled: { PutItem: 2 } },
      conflicts: {},
    })
  })

  it('waits for a call that it can apply to', async () => {
    const items = await realisticItems()
    items.dynamodb.faults.next({ kind: 'transaction-in-progress' })
    items.dynamodb.faults.next({ kind: 'partial-result' })
    await items.putItem('a')
    await items.batchWrite('a')
    expect(items.dynamodb.faults.pending()).toBe(2)
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

describe('random faults', () => {
  const callOf = (operation: DataOperation): EngineCall => ({
    operation,
    input: {},
    items: ['a', 'b'].map((key) => ({ table: 'table', key })),
  })
  const RATES = {
    'request-lost': 0.1,
    'response-lost': 0.1,
    throttled: 0.1,
    delayed: 0.1,
    'transaction-in-progress': 0.1,
    'partial-result': 0.1,
  }
  const draw = (seed: number, operations: DataOperation[]) => {
    const faults = createFaults()
    faults.random({ seed, rates: RATES })
    return operations.map((operation) => {
      const { reached, released, ...fault } = faults.take(callOf(operation)) ?? {}
      return 'kind' in fault ? (fault as InjectedFault) : undefined
    })
  }
  const repeat = <T>(count: number, values: T[]): T[] => Array.from({ length: count }, () => values).flat()

  it('are the same for the same seed and calls, in whatever order operations mix', () => {
    const writes = draw(7, repeat(200, ['PutItem']))
    expect(draw(7, repeat(200, ['PutItem']))).toEqual(writes)
    expect(draw(7, repeat(200, ['PutItem', 'Query'])).filter((_fault, index) => index % 2 === 0)).toEqual(
      writes,
    )
    expect(draw(8, repeat(200, ['PutItem']))).not.toEqual(writes)
  })

  it('come at their rates, each kind at the operations that it applies to', () => {
    const share = (operation: DataOperation, kind: string) =>
      draw(1, repeat(5_000, [operation])).filter((fault) => fault?.kind === kind).length / 5_000
    expect(share('PutItem', 'response-lost')).toBeCloseTo(0.1, 1)
    expect(share('PutItem', 'delayed')).toBeCloseTo(0.1, 1)
    expect(share('PutItem', 'transaction-in-progress')).toBe(0)
    expect(share('TransactWriteItems', 'transaction-in-progress')).toBeCloseTo(0.1, 1)
    expect(share('PutItem', 'partial-result')).toBe(0)
    expect(share('BatchGetItem', 'partial-result')).toBeCloseTo(0.1, 1)
  })

  it('stop when faults are cleared', () => {
    const faults = createFaults()
    faults.random({ seed: 1, rates: { throttled: 1 } })
    expect(faults.take(callOf('PutItem'))).toMatchObject({ kind: 'throttled' })
    faults.clear()
    expect(faults.take(callOf('PutItem'))).toBeUndefined()
  })

  it('reach a store, and are counted by kind and operation', async () => {
    const { table, dynamodb } = await freshRealisticTable({ latency: SHORT_LATENCY })
    const clinic = await newClinic(table)
    dynamodb.resetCounts()
    dynamodb.faults.random({ seed: 3, rates: { throttled: 0.2 } })
    await Promise.allSettled(
      Array.from({ length: 10 }, () => patientWriter({ table }).createMany(clinic.id, [aPatient()])),
    )
    const { calls, faults } = dynamodb.counts()
    expect(calls.TransactWriteItems).toBeGreaterThan(9)
    expect(faults.throttled?.TransactWriteItems).toBeGreaterThan(0)
  })
})
