import { expect, it } from 'vitest'
import { REPEATED_REFUSALS, refusedKeys } from '../../../shared/http/refused-keys.ts'

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
