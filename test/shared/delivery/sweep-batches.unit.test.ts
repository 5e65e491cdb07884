import { describe, expect, it } from 'vitest'
import { MAX_SWEEP_MS, sweepBatches } from '../../../shared/delivery/sweep-batches.ts'

const START = 1_000_000
type Item = { readonly at: number; readonly takesMs?: number; readonly fails?: boolean }

/** Sweeps one item at a time; returns the lags that were reported, and the error. */
async function swept(...batches: Item[][]) {
  let now = START
  const lags: number[] = []
  async function* read() {
    yield* batches
  }
  const work = async ({ takesMs = 0, fails = false }: Item) => {
    now += takesMs
    if (fails) throw new Error('failed')
  }
  const reportLag = (ms: number) => void lags.push(ms)
  const error = await sweepBatches(read(), { work, concurrency: 1, now: () => now, reportLag }).catch(
    ({ message }: Error) => message,
  )
  return { lags, error }
}

describe('the lag of a sweep', () => {
  it('is that of the oldest item', async () => {
    expect(await swept([{ at: START - 10 }, { at: START - 700 }], [{ at: START - 50 }])).toEqual({
      lags: [700],
      error: undefined,
    })
  })

  it.each<[string, Item[][]]>([
    ['nothing was due', []],
    ['a batch was empty', [[]]],
    ['what it read is due later', [[{ at: START + 60_000 }]]],
  ])('is 0 when %s', async (_, batches) => {
    expect((await swept(...batches)).lags).toEqual([0])
  })

  it('includes how long an item waited for its turn in the sweep', async () => {
    expect((await swept([{ at: START - 10, takesMs: 5000 }, { at: START - 9 }])).lags).toEqual([5009])
  })

  it('leaves out items that the sweep did not reach', async () => {
    expect((await swept([{ at: START - 10, takesMs: MAX_SWEEP_MS }, { at: START - 9 }])).lags).toEqual([10])
  })

  it('is not reported when nothing could be read', async () => {
    const lags: number[] = []
    const down = { next: (): Promise<IteratorResult<Item[]>> => Promise.reject(new Error('down')) }
    const batches = { [Symbol.asyncIterator]: () => down }
    const options = { work: async () => {}, concurrency: 1, now: () => START }
    const sweep = sweepBatches(batches, { ...options, reportLag: (ms) => void lags.push(ms) })
    await expect(sweep).rejects.toThrow('down')
    expect(lags).toEqual([])
  })

  it('is reported when an item fails', async () => {
    expect(await swept([{ at: START - 10, fails: true }])).toEqual({ lags: [10], error: 'failed' })
  })
})
