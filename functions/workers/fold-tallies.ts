import { sweepWorker } from '../../shared/runtime/sweep.ts'
import { foldTalliesWorker } from '../../shared/runtime/workers.ts'
import { tallyFolding } from '../../shared/store/calendar/fold-tallies.ts'

/** Runs every minute. Folds the overflow items of tallies back once their writers no longer collide. */
export const handler = sweepWorker(
  foldTalliesWorker,
  { tallies: tallyFolding },
  async ({ tallies }, { reportLag }) => {
    await tallies.foldQuiet(reportLag)
  },
)
