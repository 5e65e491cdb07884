import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ClinicId } from '../../domain/clinic.ts'
import { Changeset } from './changeset.ts'
import { UnavailableError } from './errors.ts'
import { isRetryable, retryOnConflict } from './retries.ts'
import type { Table } from './table.ts'

/** Changes that belong together. */
export type Unit = {
  readonly changes: Changeset
  /** Builds the changes again from fresh reads; null when nothing is left to do. */
  readonly rebuild: () => Promise<Changeset | null>
  /** Called after a commit: `unknown` if its response was lost, so that the changes may have been written. */
  readonly onCommit?: (outcome: 'committed' | 'unknown') => void
}

/**
 * Commits units in as few transactions as hold them, each unit whole. One transaction follows the other: concurrent ones
 * would collide, since units of one batch mostly share tallies, doctors or patients. Units that are built when they are
 * asked for are built while the transaction before theirs is being committed.
 * @throws UnavailableError when the store is unavailable, or other writers win every attempt of a unit
 */
export async function commitPacked(table: Table, clinic: ClinicId, units: Units): Promise<void> {
  let running: Promise<void> = Promise.resolve()
  try {
    for await (const pack of packUnits(table, clinic, units)) {
      await running
      running = commitPack(pack)
      // Thrown when it is awaited.
      running.catch(() => {})
      // The request is sent before the next units are built.
      await nextTurn()
    }
  } finally {
    await running
  }
}

type Units = Iterable<Unit> | AsyncIterable<Unit>

type Pack = { readonly changes: Changeset; readonly units: Unit[] }

async function* packUnits(table: Table, clinic: ClinicId, units: Units): AsyncGenerator<Pack> {
  let last: Pack | null = null
  for await (const unit of units) {
    if (last?.changes.merge(unit.changes)) {
      last.units.push(unit)
      continue
    }
    if (last) yield last
    const changes = new Changeset(table, clinic)
    if (!changes.merge(unit.changes)) throw new RangeError('a unit is larger than a transaction')
    last = { changes, units: [unit] }
  }
  if (last) yield last
}

async function commitPack({ changes, units }: Pack): Promise<void> {
  try {
    await commit(changes, units)
  } catch (error) {
    if (!isRetryable(error)) throw error
    // At least one unit is outdated or contended: commit each on its own.
    for (const unit of units) {
      await retryOnConflict(async () => {
        const fresh = await unit.rebuild()
        if (fresh) await commit(fresh, [unit])
      })
    }
  }
}

async function commit(changes: Changeset, units: readonly Unit[]): Promise<void> {
  try {
    await changes.commit()
  } catch (error) {
    if (error instanceof UnavailableError) for (const { onCommit } of units) onCommit?.('unknown')
    throw error
  }
  for (const { onCommit } of units) onCommit?.('committed')
}

/** Commits the changes that `build` returns, and builds them again from fresh reads when they are outdated by then. */
export const commitWithRetry = (build: () => Promise<Changeset | null>): Promise<void> =>
  retryOnConflict(async () => (await build())?.commit())
