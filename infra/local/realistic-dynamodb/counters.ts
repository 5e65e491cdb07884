import type { DataOperation } from './call.ts'
import type { FaultKind } from './faults.ts'

/** Counts of events since the start, or since the last reset. */
export type Counts = {
  /** Calls that arrived, by operation. */
  readonly calls: Readonly<Partial<Record<DataOperation, number>>>
  /** Faults that were applied, by kind and operation. */
  readonly faults: Readonly<Partial<Record<FaultKind, Readonly<Partial<Record<DataOperation, number>>>>>>
  /** How often a call was rejected for an item, by the item's key: `pk|sk`. */
  readonly conflicts: Readonly<Record<string, number>>
}

export function createCounters() {
  let counts = empty()
  return {
    read: (): Counts => structuredClone(counts),
    reset: (): void => {
      counts = empty()
    },
    countCall: (operation: DataOperation): void => add(counts.calls, operation),
    countFault: (kind: FaultKind, operation: DataOperation): void => {
      counts.faults[kind] ??= {}
      add(counts.faults[kind], operation)
    },
    countConflict: (key: string): void => add(counts.conflicts, key),
  }
}

type Tally = Partial<Record<string, number>>

const empty = () => ({
  calls: {} as Tally,
  faults: {} as Partial<Record<FaultKind, Tally>>,
  conflicts: {} as Record<string, number>,
})

function add(tally: Tally, name: string): void {
  tally[name] = (tally[name] ?? 0) + 1
}
