import type { Table } from '../../shared/store/table/table.ts'

/** Thrown where the simulated process ended. */
export class Crashed extends Error {}

/** Wraps a call so that the process may crash before or after it. */
export const crashable =
  <A extends unknown[], R>(act: (...args: A) => Promise<R>, shouldCrash: () => boolean) =>
  async (...args: A): Promise<R> => {
    if (shouldCrash()) throw new Crashed()
    const result = await act(...args)
    if (shouldCrash()) throw new Crashed()
    return result
  }

/** The calls of a table that wait for the engine. */
export const TABLE_CALLS = [
  'get',
  'getCommitted',
  'query',
  'getMany',
  'deleteMany',
  'putMany',
  'update',
  'tryTransact',
  'transact',
] as const

/** Wraps a table so that the process may crash at every call. */
export function crashableTable(table: Table, shouldCrash: () => boolean): Table {
  const calls = TABLE_CALLS.map((call) => [
    call,
    crashable(table[call] as (...args: unknown[]) => Promise<unknown>, shouldCrash),
  ])
  return { ...table, ...Object.fromEntries(calls) }
}
