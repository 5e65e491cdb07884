import type { Table } from '../../shared/store/table/table.ts'

/** The process ended here. */
export class Killed extends Error {}

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
