import { worker } from '../shared/runtime/worker.ts'
import { foldTalliesWorker } from '../shared/runtime/workers.ts'
import { tallyFolding } from '../shared/store/calendar/fold-tallies.ts'

/** Runs every minute. Folds the overflow items of tallies back once their writers no longer collide. */
export const handler = worker(
  foldTalliesWorker,
  { tallies: tallyFolding },
  async (_event: unknown, { tallies }) => {
    await tallies.foldQuiet()
  },
)
