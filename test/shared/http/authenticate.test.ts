import { expect, it } from 'vitest'
import { authenticate, REPEATED_REJECTIONS, rejectedKeys } from '../../../shared/http/authenticate.ts'

/** The keys that are reported, and what is kept for the log line. */
async function reject(authorization: string) {
  const rejected: string[] = []
  const call: { rejectedKey?: string } = {}
  const event = { multiValueHeaders: { Authorization: [authorization] } } as never
  const options = { verifyCredential: async () => null, onRejectedKey: (key: string) => rejected.push(key) }
  await expect(authenticate(event, call, options)).rejects.toThrow()
  return { rejected, logged: call.rejectedKey }
}

it('reports and logs the key of a rejected request when it has the form of an issued one', async () => {
  expect(await reject('Developer ck_a_0123:secret')).toEqual({ rejected: ['ck_a_0123'], logged: 'ck_a_0123' })
})

it('neither reports nor logs another key, because it may be anything', async () => {
  expect(await reject('Developer ada.lang:secret')).toEqual({ rejected: [], logged: undefined })
})

function counting() {
  const clock = { at: 0 }
  const state = { reports: 0 }
  const reject = rejectedKeys(
    () => state.reports++,
    () => clock.at,
  )
  const repeat = (key: string, times: number) => {
    for (let n = 0; n < times; n++) reject(key)
    return state.reports
  }
  return { clock, repeat }
}

it('reports a key at every tenth rejection', () => {
  const { repeat } = counting()
  expect(repeat('ck_a', REPEATED_REJECTIONS - 1)).toBe(0)
  expect(repeat('ck_a', 1)).toBe(1)
  expect(repeat('ck_a', REPEATED_REJECTIONS)).toBe(2)
})

it('does not add up rejections of different keys, nor of more than five minutes', () => {
  const { clock, repeat } = counting()
  for (let n = 0; n < 100; n++) expect(repeat(`ck_${n}`, 1)).toBe(0)
  repeat('ck_a', REPEATED_REJECTIONS - 1)
  clock.at += 5 * 60_000
  expect(repeat('ck_a', 1)).toBe(0)
})

it('remembers the latest thousand keys', () => {
  const { repeat } = counting()
  repeat('ck_old', REPEATED_REJECTIONS - 1)
  for (let n = 0; n < 1000; n++) repeat(`ck_${n}`, 1)
  expect(repeat('ck_old', 1)).toBe(0)
  expect(repeat('ck_old', REPEATED_REJECTIONS - 1)).toBe(1)
})
