import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../random.ts'
import type { DataOperation } from './call.ts'

/** How long calls take, in milliseconds, the engine's own time included. */
export type LatencyOptions = {
  /** TransactWriteItems and TransactGetItems; 18 unless given. */
  readonly transactionMs?: number
  /** PutItem, UpdateItem, DeleteItem and BatchWriteItem; 5 unless given. */
  readonly writeMs?: number
  /** Plain reads; 5 unless given. */
  readonly readMs?: number
  /** Calls that are rejected before they reach the engine, for a conflict or a fault; 5 unless given. */
  readonly rejectionMs?: number
  /** The share by which a latency varies in both directions; 0.3 unless given. */
  readonly jitter?: number
}

type Kind = 'transactionMs' | 'writeMs' | 'readMs' | 'rejectionMs'

const KINDS: Readonly<Record<DataOperation, Kind>> = {
  GetItem: 'readMs',
  BatchGetItem: 'readMs',
  Query: 'readMs',
  Scan: 'readMs',
  TransactGetItems: 'transactionMs',
  PutItem: 'writeMs',
  UpdateItem: 'writeMs',
  DeleteItem: 'writeMs',
  BatchWriteItem: 'writeMs',
  TransactWriteItems: 'transactionMs',
}

export function latency(options: LatencyOptions) {
  const { jitter = 0.3, ...given } = options
  const bases = { transactionMs: 18, writeMs: 5, readMs: 5, rejectionMs: 5, ...given }
  const random = seededRandom(1, 'latency')
  const draw = (kind: Kind): number => Math.round(bases[kind] * (1 + jitter * (2 * random() - 1)))
  return {
    /** How long a call takes. */
    draw: (operation: DataOperation): number => draw(KINDS[operation]),
    reject: (): Promise<void> => pause(draw('rejectionMs')),
    /** The share of its latency after which a call reaches the engine. */
    drawShare: (): number => random(),
  }
}

/** Waits without a timer when there is nothing to wait for. */
export async function pause(milliseconds: number): Promise<void> {
  if (milliseconds > 0) await sleep(milliseconds, undefined, { ref: false })
}
