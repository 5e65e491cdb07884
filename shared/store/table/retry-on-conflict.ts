import { setTimeout as sleep } from 'node:timers/promises'
import { UnavailableError } from '../../domain/unavailable.ts'
import { ConditionFailed } from './table.ts'

/** Somebody else was faster so many times in a row. */
const MAX_ATTEMPTS = 20

/**
 * Runs work that reads, and writes under the condition that what it read still holds; again when it no longer did.
 * @throws UnavailableError when others are faster every time
 */
export async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      if (attempt === MAX_ATTEMPTS) throw new UnavailableError(error)
      // Apart from each other, so that those who lost together do not lose together again.
      await sleep(Math.random() * 10 * attempt)
    }
  }
}
