import { logToStdout } from '../observability/log.ts'
import { type Count, counter } from '../observability/metrics.ts'
import type { Table } from '../store/table/table.ts'
import { newId, now } from './system.ts'

/** What a store is made from. */
export type Platform = {
  readonly table: Table
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** A new id of a record. */
  readonly newId: () => string
  readonly onDrift: (list: string) => void
  /** Counts one occurrence of what somebody should know of. */
  readonly count: Count
}

export function openPlatform(table: Table): Platform {
  const count = counter(logToStdout, now)
  return { table, now, newId, count, onDrift: (list) => count('list_drift', { list }) }
}

/** What a function asks for, by name: each made from the platform, once a process. */
export type Stores = Record<string, (platform: Platform) => unknown>
export type Opened<S extends Stores> = { readonly [name in keyof S]: ReturnType<S[name]> }

export const openStores = <S extends Stores>(stores: S, platform: Platform): Opened<S> =>
  Object.fromEntries(Object.entries(stores).map(([name, open]) => [name, open(platform)])) as Opened<S>
