import { logToStdout } from '../http/log.ts'
import type { Table } from '../store/table.ts'
import { type Count, counter } from './metric.ts'

/** What a store is made from. */
export type Platform = {
  readonly table: Table
  readonly now: () => number
  readonly onDrift: (list: string) => void
  /** Counts one occurrence of what somebody should know of. */
  readonly count: Count
}

export function openPlatform(table: Table): Platform {
  const count = counter(logToStdout, Date.now)
  return { table, now: () => Date.now(), count, onDrift: (list) => count('list_drift', { list }) }
}
