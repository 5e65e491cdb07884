import { expect, it, vi } from 'vitest'
import { type ApiCall, beginCall } from '../../../shared/http/call.ts'
import { rateLimiter } from '../../../shared/http/limit-rate.ts'

const credential = { key: 'ck_1' } as NonNullable<ApiCall['credential']>

/** Counts a read as the nth of its minute, and waits until its background writes have ended. */
async function count(minute: number | null, recordUse: () => Promise<void>): Promise<void> {
  const call = beginCall({ requestContext: {} } as never, 0)
  const countRequest = async () => {
    if (minute === null) throw new Error('down')
    return { minute, second: 1, secondsLeft: 20 }
  }
  const limiter = rateLimiter({
    countRequest,
    requestsPerMinute: 300,
    recordUse,
    onUnlimited: () => {},
    now: () => 0,
  })
  await limiter.begin(call, credential, 'GET')
  await Promise.all(call.backgroundWrites)
}

it('records the use of a credential for its first request in a minute only', async () => {
  const record = vi.fn(async () => {})
  for (const minute of [1, 2, 3]) await count(minute, record)
  expect(record.mock.calls).toEqual([[credential]])
})

it('records nothing if the request could not be counted', async () => {
  const record = vi.fn(async () => {})
  await count(null, record)
  expect(record).not.toHaveBeenCalled()
})

it('does not fail a request when recording fails', async () => {
  await count(1, () => Promise.reject(new Error('down')))
})

it('reports once a minute that requests cannot be counted', async () => {
  const reported: unknown[] = []
  const down = new Error('down')
  let at = 0
  const limiter = rateLimiter({
    countRequest: () => Promise.reject(down),
    requestsPerMinute: 300,
    recordUse: async () => {},
    onUnlimited: (error) => reported.push(error),
    now: () => at,
  })
  for (at of [0, 1, 59_999, 60_000]) {
    const call = beginCall({ requestContext: {} } as never, 0)
    await limiter.begin(call, credential, 'POST')
  }
  expect(reported).toEqual([down, down])
})
