import type { ClinicId } from '../../domain/clinic.ts'
import { FOLDED } from '../../domain/patients/search-text.ts'
import { clinicStore } from '../../store/clinics.ts'
import { walkKey } from '../../store/keys/operator.ts'
import { searchLineParts } from '../../store/patients/search-lines.ts'
import { retryOnConflict } from '../../store/table/retries.ts'
import type { Table } from '../../store/table/table.ts'
import { invalidateIndexes, rewriteSegments } from '../verify/patients/search-index.ts'
import { clinicsOf } from '../walk/sources.ts'
import { type WalkOptions, walk } from '../walk/walk.ts'

export const SEARCH_PROGRESS = walkKey('maintain', 'migrate#search')

/**
 * Rewrites the search lines of every clinic that has some of an earlier folding, while the API is serving. Repeating it does nothing. A
 * clinic whose items cannot be read is left to its verification. Returns the numbers of clinics.
 */
export const migrateSearch = async (table: Table, options: WalkOptions = {}) =>
  walk(
    table,
    clinicsOf((await clinicStore({ table }).directory()).ids),
    {
      progress: SEARCH_PROGRESS,
      visit: async ([clinic]) => ({
        rewritten: Number(await rewriteEarlierLines(table, clinic)),
        failed: 0,
      }),
      onFailed: () => ({ rewritten: 0, failed: 1 }),
      finish: async ({ counts: { rewritten = 0, failed = 0 } }) => ({ rewritten, failed }),
    },
    options,
  )

/** Returns whether there were any. */
async function rewriteEarlierLines(table: Table, clinic: ClinicId): Promise<boolean> {
  for await (const lines of searchLineParts(table, clinic)) {
    if (lines.values().every((line) => line.endsWith(FOLDED))) continue
    await retryOnConflict(() => rewriteSegments(table, clinic))
    await invalidateIndexes(table, clinic)
    return true
  }
  return false
}
