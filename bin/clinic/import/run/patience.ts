import { setTimeout as sleep, setTimeout as wait } from 'node:timers/promises'
import { UnavailableError } from '../../../../shared/store/table/errors.ts'
import { retryOnConflict } from '../../../../shared/store/table/retries.ts'
import type { Table } from '../../../../shared/store/table/table.ts'

/** How long an import waits for a store that is unavailable or busy before it ends. */
export const RETRY_TIMEOUT_MS = 10 * 60_000

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 15_000

/**
 * Runs work that can be repeated until it succeeds. Unlike a request, an import has time: it also waits when the store is
 * unavailable, or when other writers have won for as long as a request would try. `onWait` is called before each wait.
 * @throws UnavailableError after {@link RETRY_TIMEOUT_MS}
 */
export async function retryPatiently<T>(work: () => Promise<T>, onWait: () => void): Promise<T> {
  const startedAt = performance.now()
  for (let ceiling = FIRST_WAIT_MS; ; ceiling = Math.min(MAX_WAIT_MS, ceiling * 2)) {
    try {
      return await retryOnConflict(work)
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error
      const wait = Math.random() * ceiling
      if (performance.now() + wait - startedAt > RETRY_TIMEOUT_MS) throw error
      onWait()
      await sleep(wait)
    }
  }
}

/** Requests of the API that want the same items get between two transactions of an import. */
const PAUSE_MS = 25

/** The table, with a pause after each transaction: nearly all move the head of the patients or the tally of a month. */
export const withPauses = (table: Table, sleep: (ms: number) => Promise<unknown> = wait): Table => ({
  ...table,
  tryTransact: async (writes) => {
    await table.tryTransact(writes)
    await sleep(PAUSE_MS)
  },
})
