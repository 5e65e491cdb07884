import { BatchOutcomes } from './batch-outcomes.ts'
import type { ImportEntity, ImportRow, ImportRun } from './entity.ts'
import { retryPatiently } from './retry-patiently.ts'

/** A batch is compared with the records in the table, so it can be written again. */
export async function writeBatch<Fields>(
  { write }: ImportEntity<Fields>,
  run: Omit<ImportRun, 'outcomes'>,
  batch: readonly ImportRow<Fields>[],
  onWait: () => void,
): Promise<BatchOutcomes> {
  const outcomes = new BatchOutcomes()
  if (batch.length === 0) return outcomes
  await retryPatiently(() => {
    const left = batch.filter(({ id }) => !outcomes.isFinal(id))
    return write({ ...run, outcomes }, left)
  }, onWait)
  return outcomes
}
