import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ConditionFailed, UnavailableError } from '../../../../shared/store/table/errors.ts'
import {
  abortOption,
  optionalWork,
  withScope,
  withTimeLimit,
} from '../../../../shared/store/table/request-scope.ts'

it('aborts the calls of a store function after the limit, and throws UnavailableError', async () => {
  const store = withTimeLimit(30, {
    find: async () => sleep(60_000, 'late', { signal: abortOption().abortSignal }),
  })
  await expect(store.find()).rejects.toThrow(UnavailableError)
})

it('passes parameters, results and other errors on', async () => {
  const store = withTimeLimit(60_000, {
    double: async (value: number) => value * 2,
    fail: async () => {
      throw new ConditionFailed([0])
    },
  })
  expect(await store.double(4)).toBe(8)
  await expect(store.fail()).rejects.toThrow(ConditionFailed)
})

it('reports optional work that fails, but not work that has no time left', async () => {
  const reported: unknown[] = []
  const onOptionalFailure = (error: unknown) => reported.push(error)
  const failing = () => optionalWork(() => Promise.reject(new Error('down')))
  await withScope({ onOptionalFailure, deadline: performance.now() + 60_000 }, failing)
  await withScope({ onOptionalFailure, deadline: performance.now() - 1 }, failing)
  expect(reported).toEqual([new Error('down')])
})
