import type { Table } from '../../shared/store/table.ts'

/** The process ended here. */
export class Killed extends Error {}

/** Pseudo-random numbers from 0 to 1 that a seed repeats. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A call that its process may not live to make, or to see the result of. */
export const mortal =
  <A extends unknown[], R>(act: (...args: A) => Promise<R>, dies: () => boolean) =>
  async (...args: A): Promise<R> => {
    if (dies()) throw new Killed()
    const result = await act(...args)
    if (dies()) throw new Killed()
    return result
  }

const CALLS = ['get', 'query', 'getMany', 'deleteMany', 'update', 'transact'] as const

/** The table, for a process that may die at every call of it. */
export function mortalTable(table: Table, dies: () => boolean): Table {
  const calls = CALLS.map((call) => [
    call,
    mortal(table[call] as (...args: unknown[]) => Promise<unknown>, dies),
  ])
  return { ...table, ...Object.fromEntries(calls) }
}
