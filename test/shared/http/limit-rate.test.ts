import { expect, it, vi } from 'vitest'
import type { ApiCall } from '../../../shared/http/call.ts'
import { recordUse } from '../../../shared/http/limit-rate.ts'

const credential = { key: 'ck_1' } as NonNullable<ApiCall['credential']>

/** Runs the middleware on a call, and waits until its background writes have ended. */
async function run(record: () => Promise<void>, call: Partial<ApiCall>): Promise<void> {
  const backgroundWrites: Promise<unknown>[] = []
  await recordUse(record).before?.({ context: { call: { ...call, backgroundWrites } } } as never)
  await Promise.all(backgroundWrites)
}

const counted = (minute: number) => Promise.resolve({ minute, second: 1, secondsLeft: 20 })

it('records the use of a credential for its first request in a minute only', async () => {
  const record = vi.fn(async () => {})
  for (const minute of [1, 2, 3]) await run(record, { credential, requestCount: counted(minute) })
  expect(record.mock.calls).toEqual([[credential]])
})

it('records nothing without a credential or a count', async () => {
  const record = vi.fn(async () => {})
  await run(record, {})
  await run(record, { credential, requestCount: Promise.resolve(null) })
  expect(record).not.toHaveBeenCalled()
})

it('does not fail a request when recording fails', async () => {
  const failing = () => Promise.reject(new Error('down'))
  await run(failing, { credential, requestCount: counted(1) })
})
