import type { Table } from '../../shared/store/table/table.ts'

/** The process ended here. */
export class Crashed extends Error {}

/** A call that its process may not live to make, or to see the result of. */
export const crashable =
  <A extends unknown[], R>(act: (...args: A) => Promise<R>, shouldCrash: () => boolean) =>
  async (...args: A): Promise<R> => {
    if (shouldCrash()) throw new Crashed()
    const result = await act(...args)
    if (shouldCrash()) throw new Crashed()
    return result
  }

const CALLS = ['get', 'query', 'getMany', 'deleteMany', 'update', 'tryTransact', 'transact'] as const

/** The table, for a process that may die at every call of it. */
export function crashableTable(table: Table, shouldCrash: () => boolean): Table {
  const calls = CALLS.map((call) => [
    call,
    crashable(table[call] as (...args: unknown[]) => Promise<unknown>, shouldCrash),
  ])
  return { ...table, ...Object.fromEntries(calls) }
}
