/** Where the histories of a campaign take place: an engine with a table, and everything that reaches it. */

import type { Table } from '../../shared/store/table/table.ts'
import type { RandomSource } from '../support/realistic-dynamodb/random.ts'
import type { RealisticDynamoDb } from '../support/realistic-dynamodb/realistic-dynamodb.ts'
import type { TransactionFault } from './run.ts'
import type { World } from './world.ts'

export type Stage = AsyncDisposable & {
  readonly dynamodb: RealisticDynamoDb
  /** The table without faults and conflicts. */
  readonly table: Table
  /** Begins a history. `counts` are its faults by kind, except the faults of DynamoDB. */
  readonly begin: (random: RandomSource) => { world: World; counts: Readonly<Record<string, number>> }
}

export type OpenStage = () => Promise<Stage>

export function planTransactionFaults(
  { faults }: RealisticDynamoDb,
  planned: readonly TransactionFault[],
): void {
  for (const { kind, times } of planned)
    faults.next({ kind, times, operation: 'TransactWriteItems' } as Parameters<typeof faults.next>[0])
}
