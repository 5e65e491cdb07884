import { MAX_SWEEP_MS, sweepBatches } from '../../shared/delivery/sweep-batches.ts'
import { sweepWorker } from '../../shared/runtime/sweep.ts'
import { refreshCopiesWorker } from '../../shared/runtime/workers.ts'
import { dueRefreshes } from '../../shared/store/copies/due-refreshes.ts'
import { pausedClinics } from '../../shared/store/paused-clinics.ts'

/** Owners of each partition that are read at a time. */
const BATCH_SIZE = 25

/** Each owner can have thousands of records, which are rewritten in transactions. */
const CONCURRENCY = 4

/** Runs every minute. Finishes the refreshes of copied names that were interrupted, of all clinics. */
export const handler = sweepWorker(
  refreshCopiesWorker,
  { refreshes: dueRefreshes, clinics: pausedClinics },
  ({ refreshes, clinics }, { now, reportLag }) => {
    const signal = AbortSignal.timeout(MAX_SWEEP_MS)
    return sweepBatches(clinics.withoutPaused(refreshes.dueBatches(now(), BATCH_SIZE)), {
      work: (due) => refreshes.finish(due, signal),
      concurrency: CONCURRENCY,
      now,
      reportLag,
    })
  },
)
