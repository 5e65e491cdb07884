import { logToStdout } from '../observability/log.ts'
import { type Count, counter, durationRecorder, type RecordMs } from '../observability/metrics.ts'
import { type LogWork, workLogger } from '../observability/work-line.ts'
import type { Table } from '../store/table/table.ts'
import { newId, now } from './system.ts'

/** The dependencies that stores are opened with. */
export type Platform = {
  readonly table: Table
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly newId: () => string
  readonly onDrift: (list: string) => void
  /** Counts one occurrence of a metric. */
  readonly count: Count
  readonly recordMs: RecordMs
  /** Writes the line of a piece of work of a worker. */
  readonly logWork: LogWork
}

/** @param stage the stage that metrics are recorded for */
export function openPlatform(table: Table, stage: string): Platform {
  const source = { write: logToStdout, now, stage }
  const count = counter(source)
  const recordMs = durationRecorder(source)
  const logWork = workLogger(logToStdout, now)
  return { table, now, newId, count, recordMs, logWork, onDrift: (list) => count('list_drift', { list }) }
}

/** The dependencies of a function by name. Each is opened from the platform, once per process. */
export type Stores = Record<string, (platform: Platform) => unknown>
export type Opened<S extends Stores> = { readonly [name in keyof S]: ReturnType<S[name]> }

export const openStores = <S extends Stores>(stores: S, platform: Platform): Opened<S> =>
  Object.fromEntries(Object.entries(stores).map(([name, open]) => [name, open(platform)])) as Opened<S>
