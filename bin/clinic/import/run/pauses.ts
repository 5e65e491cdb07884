import { setTimeout as wait } from 'node:timers/promises'
import type { Table } from '../../../../shared/store/table/table.ts'

/** Requests of the API that want the same items get between two transactions of an import. */
const PAUSE_MS = 25

/** The table, with a pause after each transaction: nearly all move the head of the patients or the tally of a month. */
export const withPauses = (table: Table, sleep: (ms: number) => Promise<unknown> = wait): Table => ({
  ...table,
  tryTransact: async (writes) => {
    await table.tryTransact(writes)
    await sleep(PAUSE_MS)
  },
})
