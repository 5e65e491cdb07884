import { expect, it } from 'vitest'
import { authenticate, REPEATED_REFUSALS, refusedKeys } from '../../../shared/http/authenticate.ts'

/** The keys that are reported, and what is kept for the log line. */
async function refuse(authorization: string) {
  const refused: string[] = []
  const call: { refusedKey?: string } = {}
  const { before } = authenticate(
    async () => null,
    (key) => refused.push(key),
  )
  const request = { event: { multiValueHeaders: { Authorization: [authorization] } }, context: { call } }
  await expect((async () => before?.(request as never))()).rejects.toThrow()
  return { refused, logged: call.refusedKey }
}

it('reports and logs the key of a refused request when it has the form of an issued one', async () => {
  expect(await refuse('Developer ck_a_0123:secret')).toEqual({ refused: ['ck_a_0123'], logged: 'ck_a_0123' })
})

it('neither reports nor logs another key, because it may be anything', async () => {
  expect(await refuse('Developer ada.lang:secret')).toEqual({ refused: [], logged: undefined })
})

function counting() {
  const clock = { at: 0 }
  const state = { reports: 0 }
  const refuse = refusedKeys(
    () => state.reports++,
    () => clock.at,
  )
  const repeat = (key: string, times: number) => {
    for (let n = 0; n < times; n++) refuse(key)
    return state.reports
  }
  return { clock, repeat }
}

it('reports a key at every tenth refusal', () => {
  const { repeat } = counting()
  expect(repeat('ck_a', REPEATED_REFUSALS - 1)).toBe(0)
  expect(repeat('ck_a', 1)).toBe(1)
  expect(repeat('ck_a', REPEATED_REFUSALS)).toBe(2)
})

it('does not add up the refusals of different keys, nor those of more than five minutes', () => {
  const { clock, repeat } = counting()
  for (let n = 0; n < 100; n++) expect(repeat(`ck_${n}`, 1)).toBe(0)
  repeat('ck_a', REPEATED_REFUSALS - 1)
  clock.at += 5 * 60_000
  expect(repeat('ck_a', 1)).toBe(0)
})

it('remembers the latest thousand keys', () => {
  const { repeat } = counting()
  repeat('ck_old', REPEATED_REFUSALS - 1)
  for (let n = 0; n < 1000; n++) repeat(`ck_${n}`, 1)
  expect(repeat('ck_old', 1)).toBe(0)
  expect(repeat('ck_old', REPEATED_REFUSALS - 1)).toBe(1)
})
