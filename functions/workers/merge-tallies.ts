import { sweepWorker } from '../../shared/runtime/sweep.ts'
import { mergeTalliesWorker } from '../../shared/runtime/workers.ts'
import { tallyMerging } from '../../shared/store/calendar/merge-tallies.ts'

/** Runs every minute. Merges the shards of tallies once their writers no longer collide. */
export const handler = sweepWorker(
  mergeTalliesWorker,
  { tallies: tallyMerging },
  async ({ tallies }, { reportLag }) => {
    await tallies.mergeQuiet(reportLag)
  },
)
