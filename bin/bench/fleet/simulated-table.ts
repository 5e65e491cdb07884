import type { Clock } from './clock.ts'

/** Milliseconds; each call takes up to 30 % less or more. */
const LATENCY_MS = { read: 5, write: 8, transaction: 18 }

/** Items of a transaction cost twice the units of a single write. */
const TRANSACTION_FACTOR = 2

export type SimulatedTable = ReturnType<typeof simulatedTable>

/** The latencies of DynamoDB, and counts of its calls and units. */
export function simulatedTable(clock: Clock, random: () => number) {
  const used = { calls: 0, readUnits: 0, writeUnits: 0 }
  const wait = (ms: number): Promise<void> => clock.sleep(Math.round(ms * (0.7 + 0.6 * random())))

  const countTransaction = (items: readonly number[]): void => {
    used.calls++
    for (const bytes of items) used.writeUnits += TRANSACTION_FACTOR * writeUnits(bytes)
  }

  return {
    used,
    /** Reads items of at most 4 KB each, strongly consistent. */
    read: (items = 1): Promise<void> => {
      used.calls++
      used.readUnits += Math.max(1, items)
      return wait(LATENCY_MS.read)
    },
    /** Writes one item. */
    write: (bytes = 0): Promise<void> => {
      used.calls++
      used.writeUnits += writeUnits(bytes)
      return wait(LATENCY_MS.write)
    },
    /** Writes items of these sizes in bytes. */
    transact: (items: readonly number[]): Promise<void> => {
      countTransaction(items)
      return wait(LATENCY_MS.transaction)
    },
    countTransaction,
    /** A pause before a write that was refused is repeated. */
    backOff: (ceilingMs: number): Promise<void> => clock.sleep(ceilingMs * random()),
  }
}

const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1024))
