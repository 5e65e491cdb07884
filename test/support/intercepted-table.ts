import type { Table } from '../../shared/store/table/table.ts'

/** The same table, whose transactions go through `commit`, with their number from 1. */
export function interceptedTable(
  table: Table,
  commit: (write: () => Promise<void>, number: number) => Promise<void>,
): Table {
  let count = 0
  return { ...table, tryTransact: (writes) => commit(() => table.tryTransact(writes), ++count) }
}

/** The same table, before whose first transaction something else happens. */
export const interruptedTable = (table: Table, interfere: () => Promise<unknown>): Table =>
  interceptedTable(table, async (write, number) => {
    if (number === 1) await interfere()
    await write()
  })

/** The same table, whose process ends after its first transaction. */
export const crashingTable = (table: Table): Table =>
  interceptedTable(table, async (write) => {
    await write()
    throw new Error('crash')
  })
