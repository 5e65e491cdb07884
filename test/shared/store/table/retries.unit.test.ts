import { describe, expect, it } from 'vitest'
import {
  ConditionFailed,
  Throttled,
  UnavailableError,
  WriteConflict,
} from '../../../../shared/store/table/errors.ts'
import { RETRY_BUDGET_MS, repeatOnConflict, retryOnConflict } from '../../../../shared/store/table/retries.ts'
import { virtualTiming } from '../../../support/virtual-timing.ts'

/** Fails with each error in turn, then returns how often it was run. */
const failingWith = (...errors: Error[]) => {
  let runs = 0
  return async () => {
    const error = errors[runs++]
    if (error) throw error
    return runs
  }
}

describe('retryOnConflict', () => {
  it.each([
    ['a failed condition', new ConditionFailed([0])],
    ['a conflict', new WriteConflict()],
    ['throttling', new Throttled(null)],
  ])('runs the work again after %s', async (_, error) => {
    expect(await retryOnConflict(failingWith(error, error), virtualTiming())).toBe(3)
  })

  it('throws every other error immediately', async () => {
    await expect(retryOnConflict(failingWith(new RangeError('no')), virtualTiming())).rejects.toThrow('no')
  })

  it('gives up when the time budget is spent, not after a number of attempts', async () => {
    const timing = virtualTiming(() => 0)
    // Success is the only end if no wait takes time, however many attempts it takes.
    expect(await retryOnConflict(failingWith(...Array(500).fill(new ConditionFailed([0]))), timing)).toBe(501)
    const slow = virtualTiming(() => 1)
    await expect(
      retryOnConflict(failingWith(...Array(500).fill(new ConditionFailed([0]))), slow),
    ).rejects.toThrow(UnavailableError)
    expect(slow.now()).toBeLessThanOrEqual(RETRY_BUDGET_MS)
  })

  it('spreads its waits over a growing interval, from zero', async () => {
    const waits: number[] = []
    const randoms = [0, 1, 0.5, 1]
    let at = 0
    await retryOnConflict(failingWith(...Array(4).fill(new WriteConflict())), {
      now: () => 0,
      sleep: async (ms) => void waits.push(ms),
      random: () => randoms[at++] as number,
    })
    expect(waits).toEqual([0, 50, 50, 200])
  })
})

it('repeatOnConflict retries after a conflict, but throws a failed condition', async () => {
  expect(await repeatOnConflict(failingWith(new WriteConflict()), virtualTiming())).toBe(2)
  await expect(repeatOnConflict(failingWith(new ConditionFailed([3])), virtualTiming())).rejects.toThrow(
    ConditionFailed,
  )
})
