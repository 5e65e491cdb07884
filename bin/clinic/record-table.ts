import { formatTable } from './output.ts'
import type { RecordKind } from './record-kind.ts'

/** A line for each record. */
export const recordTable = <Wire>(
  kind: Pick<RecordKind<Wire>, 'cells'>,
  records: readonly Wire[],
): string[] => formatTable(records.map((record) => [(record as { id: string }).id, ...kind.cells(record)]))
