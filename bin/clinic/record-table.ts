import { formatTable } from './output.ts'
import type { Place } from './place.ts'
import type { RecordKind } from './record-kind.ts'

/** A line for each record. */
export const recordTable = <Wire>(
  kind: Pick<RecordKind<Wire>, 'cells'>,
  records: readonly Wire[],
): string[] => formatTable(records.map((record) => [(record as { id: string }).id, ...kind.cells(record)]))

/** Which clock times of records are by, for those that do not say so themselves. */
export const clockNotes = <Wire>(
  { hasClockTimes }: Pick<RecordKind<Wire>, 'hasClockTimes'>,
  { clinic }: Place,
): string[] => (hasClockTimes ? [timesAreIn(clinic)] : [])

/** The same as a sentence. */
export const timesAreIn = ({ timezone }: Place['clinic']): string => `Times are in ${timezone}.`
